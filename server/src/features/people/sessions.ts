/**
 * Sessions of people. The browser holds a token in an HttpOnly cookie; the database holds its
 * SHA-256. The cookie counts only together with the console's header and is `SameSite=Strict`, so
 * no other site can use it.
 *
 * A session ends after a period of inactivity, after its maximum lifetime, on request, and when the
 * person leaves the organization. Each request checks the database, so all of this takes effect
 * immediately on every process.
 */
import type { FastifyRequest } from 'fastify';
import { inBatches } from '../../platform/database/batches.ts';
import { inTransaction, type Db } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import type { Principal } from '../../platform/http/principal.ts';
import { newTypeId, type OrganizationId, type PersonId } from '../../platform/values/ids.ts';
import { scopesOf } from './roles.ts';
import {
  deleteExpiredPersonSessions,
  deletePersonSession,
  endOldestPersonSessions,
  insertPersonSession,
  useSession,
} from './session-queries.ts';
import { hashToken, newToken } from './tokens.ts';

const consoleHeader = 'x-reelfeed-console';

/** @throws {ApiError} FORBIDDEN if the request does not come from the console's page */
export function requireConsole({ headers }: FastifyRequest): void {
  if (headers[consoleHeader] === undefined) throw new ApiError('FORBIDDEN');
}

const cookieName = 'reelfeed_session';
const maxSessionsOfPerson = 100;
const maxUserAgentCharacters = 200;
const deletedAtOnce = 1_000;

export type SessionTimes = { readonly idleMs: number; readonly maxMs: number };

export type PersonSessions = {
  /** Starts a session. Returns the value of `Set-Cookie`. */
  start(request: FastifyRequest, who: SessionStart): Promise<string>;
  /** Ends the request's session, if any. Returns the value of `Set-Cookie`. */
  end(request: FastifyRequest): Promise<string>;
  /** The person behind a console request, or null without a valid session. */
  readonly personOf: (request: FastifyRequest) => Promise<Principal | null>;
  /** Deletes expired sessions. */
  prune(signal: AbortSignal): Promise<void>;
};

export type SessionStart = {
  readonly personId: PersonId;
  readonly organizationId: OrganizationId;
};

export function createPersonSessions(
  db: Db,
  { idleMs, maxMs }: SessionTimes,
  secure: boolean,
): PersonSessions {
  return {
    async start(request, { personId, organizationId }) {
      const token = newToken();
      const replaced = readToken(request);
      await inTransaction(db, async (tx) => {
        // A session from before the sign-in must not continue.
        if (replaced !== null) await deletePersonSession(tx, hashToken(replaced));
        await insertPersonSession(tx, {
          sessionId: newTypeId('ses'),
          tokenHash: hashToken(token),
          personId,
          organizationId,
          address: request.client.address,
          userAgent: (request.headers['user-agent'] ?? '').slice(0, maxUserAgentCharacters),
          idleSeconds: idleMs / 1_000,
          maxSeconds: maxMs / 1_000,
        });
        await endOldestPersonSessions(tx, personId, maxSessionsOfPerson);
      });
      return setCookie(token, Math.floor(maxMs / 1_000), secure);
    },
    async end(request) {
      const token = readToken(request);
      if (token !== null) await deletePersonSession(db, hashToken(token));
      return setCookie('', 0, secure);
    },
    async personOf(request) {
      const token = readToken(request);
      if (token === null) return null;
      const owner = await useSession(db, hashToken(token), idleMs / 1_000);
      if (owner === null) return null;
      const { sessionId, personId, organizationId, role } = owner;
      return {
        organizationId,
        callerId: personId,
        keyId: null,
        person: { personId, sessionId, role },
        family: personId,
        type: 'secret',
        scopes: scopesOf(role),
        rateLimit: null,
        allowedOrigins: [],
      };
    },
    async prune(signal) {
      await inBatches(db, deletedAtOnce, signal, (tx) =>
        deleteExpiredPersonSessions(tx, deletedAtOnce),
      );
    },
  };
}

function setCookie(value: string, maxAge: number, secure: boolean): string {
  return (
    `${cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}` +
    (secure ? '; Secure' : '')
  );
}

/** Returns null without the console's header or if the text is not a token. */
function readToken({ headers }: FastifyRequest): string | null {
  if (headers[consoleHeader] === undefined) return null;
  const parts = (headers.cookie ?? '').split(';').map((part) => part.trim());
  const found = parts.find((part) => part.startsWith(`${cookieName}=`));
  const token = found?.slice(cookieName.length + 1) ?? '';
  return /^[\w-]{43}$/.test(token) ? token : null;
}
