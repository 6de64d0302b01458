/**
 * Every mutating route called with a secret key runs through `mutate`: one transaction contains the
 * effect and, if the request has an Idempotency-Key, the response to replay. A repeat therefore
 * finds both or neither, even after a crash.
 *
 * A replay skips the effect and every check in it. Permissions are therefore checked before
 * `mutate`, and a response whose schema marks a secret is replayed only to the key that received it
 * and to its successors by rotation.
 *
 * Responses that throw (validation, conflicts, timeouts) roll back and are not stored: a repeat
 * runs again.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { inTransaction, type Db, type Tx } from '../database/database.ts';
import { inBatches } from '../database/batches.ts';
import { ApiError } from '../http/errors.ts';
import { principalOf, type Principal } from '../http/principal.ts';
import { hasSecrets } from '../http/secret-fields.ts';
import type { Vault } from '../secrets/vault.ts';
import { lockKey, pruneAnswers, storeAnswer, type StoredAnswer } from './queries.ts';

/** The response of a mutation: the payload of `data`, and optionally status and headers. */
export type Answer = {
  statusCode?: number;
  headers?: Record<string, string>;
  data: unknown;
  /**
   * Called after the commit and before the response is sent; not for a replay. It only notifies
   * this process: anything that must not be lost is in the transaction. The response waits for it.
   */
  onCommit?: () => void | Promise<void>;
};

export type Mutations = {
  /**
   * Runs `work` in a transaction and sends its response, or replays the response to an earlier
   * request with the same key.
   *
   * @param fingerprint identifies equal requests if the body is not JSON
   * @throws ApiError IDEMPOTENCY_MISMATCH, IDEMPOTENCY_IN_FLIGHT
   */
  mutate(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (tx: Tx) => Promise<Answer>,
    fingerprint?: string,
  ): Promise<FastifyReply>;
  /**
   * Like `mutate`, for routes that first ask an external system: `ask` runs before the transaction,
   * so that a slow answer does not hold a database connection. It does not run for a repeat, or
   * while this process is asking for a request with the same key.
   *
   * @throws ApiError IDEMPOTENCY_MISMATCH, IDEMPOTENCY_IN_FLIGHT
   */
  mutateAfter<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    ask: () => Promise<T>,
    work: (tx: Tx, asked: T) => Promise<Answer>,
  ): Promise<FastifyReply>;
  /** Deletes expired responses in batches until none is left or the signal aborts. */
  prune(signal: AbortSignal): Promise<void>;
};

const keptForHours = 24;
const maxKeyCharacters = 255;
const prunedAtOnce = 2_000;

/**
 * Runs the effect of each request in its transaction, and records it there. Replays have no effect.
 *
 * @returns the response of `work`
 */
export type RecordMutation = (
  tx: Tx,
  request: FastifyRequest,
  work: (tx: Tx) => Promise<Answer>,
) => Promise<Answer>;

export function createMutations(db: Db, vault: Vault, record: RecordMutation): Mutations {
  /** Keys, with their organizations, for which `mutateAfter` is asking. */
  const asking = new Set<string>();
  return {
    async mutateAfter(request, reply, ask, work) {
      const { organizationId } = principalOf(request);
      const key = readKey(request);
      if (key === null) {
        const asked = await ask();
        return this.mutate(request, reply, (tx) => work(tx, asked));
      }
      const context = `${organizationId} ${key}`;
      if (asking.has(context)) throw inFlight();
      asking.add(context);
      try {
        const lookup = await inTransaction(db, (tx) =>
          lockKey(tx, organizationId, key, keptForHours),
        );
        // `mutate` handles a response that another request has stored since, or is storing now.
        const asked = lookup.isLocked && lookup.stored === null ? await ask() : null;
        return await this.mutate(request, reply, (tx) => {
          if (asked === null) throw inFlight();
          return work(tx, asked);
        });
      } finally {
        asking.delete(context);
      }
    },
    async mutate(request, reply, act, fingerprint) {
      const work = (tx: Tx): Promise<Answer> => record(tx, request, act);
      const { organizationId, family } = principalOf(request);
      const key = readKey(request);
      if (key === null) {
        const answer = await inTransaction(db, work);
        await answer.onCommit?.();
        return send(reply, render(request, answer), false);
      }
      const print = fingerprintOf(request, fingerprint ?? bodyText(request));
      const context = `${organizationId} ${key}`;
      let onCommit: (() => void | Promise<void>) | undefined;
      const { answer, replayed } = await inTransaction(db, async (tx) => {
        const { isLocked, stored } = await lockKey(tx, organizationId, key, keptForHours);
        if (!isLocked) throw inFlight();
        if (stored !== null) {
          requireReplayable(request, stored, print);
          const opened = { ...stored, body: vault.open(stored.body, context) };
          return { answer: opened, replayed: true };
        }
        const worked = await work(tx);
        onCommit = worked.onCommit;
        const fresh = render(request, worked);
        const body = vault.seal(fresh.body, context);
        const kept = { ...fresh, fingerprint: print, body, keyFamily: family };
        await storeAnswer(tx, organizationId, key, kept);
        return { answer: fresh, replayed: false };
      });
      await onCommit?.();
      return send(reply, answer, replayed);
    },
    async prune(signal) {
      await inBatches(db, prunedAtOnce, signal, (tx) =>
        pruneAnswers(tx, keptForHours, prunedAtOnce),
      );
    },
  };
}

function inFlight(): ApiError {
  return new ApiError('IDEMPOTENCY_IN_FLIGHT', { headers: { 'retry-after': '1' } });
}

type Rendered = { statusCode: number; headers: Record<string, string>; body: string };

/** The body as text, so that a replay repeats it byte for byte. */
function render(request: FastifyRequest, answer: Answer): Rendered {
  return {
    statusCode: answer.statusCode ?? 200,
    headers: answer.headers ?? {},
    body: JSON.stringify({ data: answer.data, meta: { requestId: request.id } }),
  };
}

/** @throws ApiError IDEMPOTENCY_MISMATCH */
function requireReplayable(request: FastifyRequest, stored: StoredAnswer, print: Buffer): void {
  if (!stored.fingerprint.equals(print)) throw new ApiError('IDEMPOTENCY_MISMATCH');
  if (!answersSecret(request) || isRecipient(principalOf(request), stored)) return;
  throw new ApiError('IDEMPOTENCY_MISMATCH', {
    message:
      'Another key made the request with this Idempotency-Key, and its response contains a secret.',
  });
}

const secretAnswers = new WeakMap<object, boolean>();

function answersSecret({ routeOptions: { schema } }: FastifyRequest): boolean {
  if (schema === undefined) return false;
  const known = secretAnswers.get(schema) ?? hasSecrets(schema.response);
  secretAnswers.set(schema, known);
  return known;
}

/**
 * Without a family, the recipient is unknown, so only keys without scopes may replay the response.
 */
function isRecipient({ family, scopes }: Principal, { keyFamily }: StoredAnswer): boolean {
  return keyFamily === null ? scopes === null : keyFamily === family;
}

async function send(
  reply: FastifyReply,
  answer: Rendered,
  replayed: boolean,
): Promise<FastifyReply> {
  if (replayed) reply.header('idempotent-replayed', 'true');
  return reply
    .status(answer.statusCode)
    .headers(answer.headers)
    .type('application/json; charset=utf-8')
    .send(answer.body);
}

/** The key, either bare or as a quoted string. Both forms are the same key. */
function readKey(request: FastifyRequest): string | null {
  const raw = request.headers['idempotency-key'];
  if (raw === undefined) return null;
  const header = Array.isArray(raw) ? '' : raw.trim();
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
  if (key === '' || key.length > maxKeyCharacters || !/^[\x20-\x7e]+$/.test(key)) {
    throw new ApiError('INVALID_REQUEST', {
      message: `Idempotency-Key must be 1 to ${maxKeyCharacters} printable ASCII characters.`,
    });
  }
  return key;
}

/** @throws ApiError for a body nested too deeply to be processed */
function bodyText({ body }: FastifyRequest): string {
  try {
    return JSON.stringify(body ?? null);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = 'The body is nested too deeply.';
    throw new ApiError('INVALID_REQUEST', { message, cause: error });
  }
}

function fingerprintOf(request: FastifyRequest, body: string): Buffer {
  return createHash('sha256').update(`${request.method} ${request.url}\n${body}`).digest();
}
