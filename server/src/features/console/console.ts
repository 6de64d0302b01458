/**
 * The web console at `/console`: a prebuilt page, and sign-in with a secret key.
 *
 * The browser keeps no key. Signing in creates a session and encrypts it, together with the key,
 * into an HttpOnly cookie; the page's requests then count as requests with that key as long as the
 * session exists in the database. Two things keep other sites from using the cookie: it is
 * `SameSite=Strict`, and it counts only together with the header `X-Reelfeed-Console`, which
 * another origin could send only after a preflight that the service never allows.
 *
 * A one-time link signs in without typing the key. Its token is in the fragment of the address, so
 * it reaches no server or log; the page sends it in the body of the sign-in request in place of a
 * key. Only this process can create links, so another site can't plant one of its own.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { inBatches } from '../../platform/database/batches.ts';
import { inTransaction, type Db } from '../../platform/database/database.ts';
import type { KeyPrincipal } from '../../platform/http/principal.ts';
import { newTypeId } from '../../platform/values/ids.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import {
  deleteExpiredConsoleSessions,
  deleteConsoleSession,
  endOldestConsoleSessions,
  insertConsoleSession,
  touchSession,
  type ConsoleSessionId,
} from './queries.ts';

const cookieName = 'reelfeed_console';
const sealContext = 'console session';
export const consoleHeader = 'x-reelfeed-console';
/** A working day; afterwards the key must be entered again. */
const sessionSeconds = 12 * 3_600;
const linkMs = 3_600_000;
const maxSessionsOfKey = 100;
/** Below the five seconds within which every process must know that a session has ended. */
const cachedForMs = 3_000;
const maxCached = 10_000;
const deletedAtOnce = 1_000;

export type ConsoleSessions = {
  /**
   * Starts a session for a key.
   * @returns the value of `Set-Cookie`; `secure` if the page was loaded over HTTPS
   */
  start(
    secretKey: string,
    principal: KeyPrincipal,
    options: { readonly secure: boolean },
  ): Promise<string>;
  /**
   * Creates the path of a link that signs in with a key: once, within an hour, and only on this
   * process. Kept only in memory, so a restart invalidates it.
   */
  readonly createLink: (secretKey: string) => string;
  /** Consumes a link and returns its key, or null if it is used or expired. */
  takeLink(token: string): string | null;
  /** Ends the request's session, if any. Returns the value of `Set-Cookie`. */
  end(request: FastifyRequest): Promise<string>;
  /** The secret key behind a console request, or null. */
  readonly keyOf: (request: FastifyRequest) => Promise<string | null>;
  /** Deletes expired sessions. */
  prune(signal: AbortSignal): Promise<void>;
};

type Cookie = { readonly sessionId: ConsoleSessionId; readonly secretKey: string };

export function createConsoleSessions(db: Db, vault: Vault): ConsoleSessions {
  /** Whether sessions are active, cached for a few seconds. */
  const known = new LRUCache<string, Promise<boolean>>({ max: maxCached, ttl: cachedForMs });

  function isAlive(sessionId: string): Promise<boolean> {
    const remembered = known.get(sessionId);
    if (remembered !== undefined) return remembered;
    const looked = touchSession(db, sessionId);
    known.set(sessionId, looked);
    looked.catch(() => known.delete(sessionId));
    return looked;
  }

  return {
    ...createLinks(),
    async start(secretKey, { organizationId, keyId }, { secure }) {
      const sessionId = newTypeId('ses');
      const session = { sessionId, organizationId, keyId, seconds: sessionSeconds };
      await inTransaction(db, async (tx) => {
        await insertConsoleSession(tx, session);
        await endOldestConsoleSessions(tx, session, maxSessionsOfKey);
      });
      const sealed = vault.seal(JSON.stringify({ sessionId, secretKey }), sealContext);
      return setCookie(sealed.toString('base64url'), sessionSeconds, secure);
    },
    async end(request) {
      const cookie = readCookie(vault, request);
      if (cookie !== null) {
        await inTransaction(db, (tx) => deleteConsoleSession(tx, cookie.sessionId));
        known.set(cookie.sessionId, Promise.resolve(false));
      }
      return setCookie('', 0, false);
    },
    async keyOf(request) {
      const cookie = readCookie(vault, request);
      if (cookie === null || !(await isAlive(cookie.sessionId))) return null;
      return cookie.secretKey;
    },
    async prune(signal) {
      await inBatches(db, deletedAtOnce, signal, (tx) =>
        deleteExpiredConsoleSessions(tx, deletedAtOnce),
      );
    },
  };
}

function createLinks(): Pick<ConsoleSessions, 'createLink' | 'takeLink'> {
  const links = new Map<string, { secretKey: string; endsAt: number }>();
  // Looked up by hash, so that timing reveals nothing about a token.
  const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');
  return {
    createLink(secretKey) {
      const token = randomBytes(32).toString('base64url');
      links.set(hashOf(token), { secretKey, endsAt: Date.now() + linkMs });
      return `/console/#/sign-in/${token}`;
    },
    takeLink(token) {
      const hash = hashOf(token);
      const link = links.get(hash);
      links.delete(hash);
      return link !== undefined && link.endsAt > Date.now() ? link.secretKey : null;
    },
  };
}

function setCookie(value: string, maxAge: number, secure: boolean): string {
  return (
    `${cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}` +
    (secure ? '; Secure' : '')
  );
}

/** Returns null without the console's header, and for a cookie that this version did not issue. */
function readCookie(vault: Vault, { headers }: FastifyRequest): Cookie | null {
  if (headers[consoleHeader] === undefined) return null;
  const parts = (headers.cookie ?? '').split(';');
  const found = parts.find((part) => part.trim().startsWith(`${cookieName}=`));
  const sealed = found?.split('=')[1]?.trim();
  if (!sealed) return null;
  try {
    const text = vault.open(Buffer.from(sealed, 'base64url'), sealContext);
    const { sessionId, secretKey } = JSON.parse(text) as Partial<Cookie>;
    return sessionId === undefined || secretKey === undefined ? null : { sessionId, secretKey };
  } catch {
    return null;
  }
}
