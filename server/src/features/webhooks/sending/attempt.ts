/** One attempt: sign, send, read the answer. At most one request goes on the wire. */
import { EgressError } from '../../../platform/egress/egress-errors.ts';
import { hidden } from '../../../platform/http/secret-fields.ts';
import type { OpenedSecrets } from '../endpoints/secrets.ts';
import type { WebhookOptions } from '../endpoints/options.ts';
import { https } from './destinations/destination.ts';
import { DestinationError, type Answer, type Driver } from './destinations/driver.ts';
import { readRetryAfter, type AttemptEnd } from './schedule.ts';
import { signedHeaders } from './signing.ts';
import { OutdatedStateError } from '../endpoints/endpoint-changes.ts';

export type Outgoing = {
  readonly deliveryId: string;
  readonly kind: string;
  readonly body: string;
  /** Milliseconds since 1970. */
  readonly occurredAtMs: number;
};

/** Where to, and signed how. The keys are an error where the secret is unreadable. */
export type Destination = OpenedSecrets & {
  readonly organizationId: string;
  readonly webhookId: string;
  readonly url: string;
  readonly options: WebhookOptions;
};

export type AttemptParts = {
  send: Driver;
  /** From the start of the attempt to the last byte of the answer, at most. */
  totalTimeoutMs: number;
  /** The body to send where the stored one only refers to its data. */
  bodyOf?: BodyAtSending;
};

export type BodyAtSending = (
  organizationId: string,
  delivery: Pick<Outgoing, 'kind' | 'body'>,
) => Promise<string>;

export type AttemptOptions = {
  /** From 1. */
  readonly attempt: number;
  readonly isTest?: boolean;
  /** See `SendOptions`. */
  readonly isApart?: boolean;
  readonly signal: AbortSignal;
  /**
   * Called when there is a connection, right before the first byte is sent. Throws
   * `OutdatedStateError` where the request must not begin any more.
   */
  readonly onBegin: () => void;
};

export type AttemptResult = {
  readonly end: AttemptEnd;
  /** By the process's monotonic clock. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** The beginning of the answer's body; null for a success that is no test. */
  readonly response: string | null;
  /** For the log only. */
  readonly cause: unknown;
};

const maxResponseBytesKept = 4_096;
/** A shorter value, such as the name of a tenant, is part of ordinary words. */
const minSecretCharacters = 8;

/** Makes an attempt. It never rejects: the signal and `onBegin` end it as `not made`. */
export async function attemptDelivery(
  parts: AttemptParts,
  destination: Destination,
  outgoing: Outgoing,
  { attempt, isTest = false, isApart = false, signal, onBegin }: AttemptOptions,
): Promise<AttemptResult> {
  const startedAt = performance.now();
  const ended = (end: AttemptEnd, response: string | null = null, cause: unknown = null) => ({
    end,
    startedAt,
    endedAt: performance.now(),
    response,
    cause,
  });
  const { webhookId, keys, headers, options } = destination;
  if (keys instanceof Error) {
    return ended({ type: 'not made', reason: 'unreadable secret' }, null, keys);
  }
  const { deliveryId, kind, occurredAtMs } = outgoing;
  try {
    const body = (await parts.bodyOf?.(destination.organizationId, outgoing)) ?? outgoing.body;
    const timestamp = new Date(occurredAtMs).toISOString();
    const sentAtMs = Date.now();
    const message = { webhookId, deliveryId, attempt, timestamp, body, sentAtMs, isTest };
    const answer = await parts.send(
      { ...destination, ...options, destination: options.destination ?? https },
      {
        deliveryId,
        kind,
        timestamp,
        body,
        headers: { ...headers, ...signedHeaders(message, keys) },
      },
      { timeoutMs: timeoutOf(options, parts), signal, onBegin, isApart },
    );
    const { statusCode, retryAfter } = answer;
    if (statusCode === null) return ended({ type: 'confirmed', statusCode });
    const retryAfterMs = readRetryAfter(statusCode, retryAfter, Date.now());
    const end = { type: 'answered', statusCode, retryAfterMs } as const;
    // Only test sends show what is said to a success.
    const isShown = isTest || statusCode < 200 || statusCode > 299;
    return ended(end, isShown ? readableText(answer, destination) : null);
  } catch (error) {
    if (error instanceof EgressError) {
      const { failure, statusCode } = error;
      return ended({ type: 'unanswered', failure, statusCode }, null, error);
    }
    if (error instanceof DestinationError) {
      return ended({ type: 'unanswered', failure: error.failure, statusCode: null }, null, error);
    }
    if (error instanceof OutdatedStateError || signal.aborted) {
      return ended({ type: 'not made', reason: 'given back' });
    }
    const failure = 'connection_error' as const;
    return ended({ type: 'unanswered', failure, statusCode: null }, null, error);
  }
}

/** What the webhook asks for, within what the service allows. */
function timeoutOf({ timeout }: WebhookOptions, { totalTimeoutMs }: AttemptParts): number {
  return timeout === undefined ? totalTimeoutMs : Math.min(timeout * 1_000, totalTimeoutMs);
}

/**
 * Text that PostgreSQL can store: bytes that are no UTF-8, and NUL, become a replacement. Custom headers
 * and tokens that a receiver repeats are left out, since they may be secret and the text is kept and shown.
 */
function readableText({ body, secrets: tokens = [] }: Answer, { headers }: Destination): string {
  if (body.length === 0) return '';
  const values = [...Object.values(headers), ...tokens];
  const sent = values.flatMap((value) => [value, ...value.split(' ')]);
  const secrets = sent.filter(({ length }) => length >= minSecretCharacters);
  if (secrets.length === 0) return cut(body);
  let text = body.toString('utf8');
  for (const secret of secrets) {
    const escaped = JSON.stringify(secret).slice(1, -1);
    text = text.replaceAll(secret, hidden).replaceAll(escaped, hidden);
  }
  return cut(Buffer.from(text));
}

function cut(body: Buffer): string {
  return body.subarray(0, maxResponseBytesKept).toString('utf8').replaceAll('\0', '\uFFFD');
}
