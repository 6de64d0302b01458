/**
 * The web console at `/console`: a page built ahead of time, and sign-in with a secret key.
 *
 * The browser keeps no key. Signing in seals the key into a cookie that no script can read; a request
 * of the page then counts as one with that key. Two things keep other sites from using the cookie:
 * it is `SameSite=Strict`, and it counts only beside the header `X-Reelfeed-Console`, which a page of
 * another origin could send only after a preflight that the service never allows.
 *
 * A one-time link signs in without typing the key. Its token stands behind the `#` of the address, so
 * no server and no log gets it from there; the page sends it in the body of the request that a key
 * would take. Only this process can make links, so no other site can have one to plant.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Vault } from '../../platform/vault.ts';

const cookieName = 'reelfeed_console';
const sealContext = 'console session';
export const consoleHeader = 'x-reelfeed-console';
/** A working day; after it the key has to be given again. */
const sessionSeconds = 12 * 3_600;
const linkMs = 3_600_000;

export type ConsoleSessions = {
  /** The value of `Set-Cookie` that signs in with a key; `secure` where the page came by HTTPS. */
  start(secretKey: string, options: { readonly secure: boolean }): string;
  /**
   * The path of a link that signs in with a key: once, within an hour, and only at this process. It is
   * kept in memory alone, so that a restart ends it.
   */
  readonly createLink: (secretKey: string) => string;
  /** The key of a link, which is used up by this; null when it was before, or is over. */
  takeLink(token: string): string | null;
  /** The value of `Set-Cookie` that signs out. */
  end(): string;
  /** The secret key behind a request of the console, or null. */
  readonly keyOf: (request: FastifyRequest) => string | null;
};

export function createConsoleSessions(vault: Vault): ConsoleSessions {
  const cookie = (value: string, maxAge: number, secure: boolean) =>
    `${cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}` +
    (secure ? '; Secure' : '');
  const links = new Map<string, { secretKey: string; endsAt: number }>();
  // Looked up by its hash, so that the time of the look-up says nothing of a token.
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
    start(secretKey, { secure }) {
      const endsAt = Date.now() + sessionSeconds * 1_000;
      const sealed = vault.seal(JSON.stringify({ secretKey, endsAt }), sealContext);
      return cookie(sealed.toString('base64url'), sessionSeconds, secure);
    },
    end: () => cookie('', 0, false),
    keyOf({ headers }) {
      if (headers[consoleHeader] === undefined) return null;
      const sealed = readCookie(headers.cookie ?? '');
      return sealed === null ? null : openSession(vault, sealed);
    },
  };
}

function readCookie(header: string): string | null {
  const found = header.split(';').find((part) => part.trim().startsWith(`${cookieName}=`));
  return found?.split('=')[1]?.trim() || null;
}

/** Null for an expired session and for a cookie that this service did not issue. */
function openSession(vault: Vault, sealed: string): string | null {
  try {
    const text = vault.open(Buffer.from(sealed, 'base64url'), sealContext);
    const { secretKey, endsAt } = JSON.parse(text) as { secretKey: string; endsAt: number };
    return endsAt > Date.now() ? secretKey : null;
  } catch {
    return null;
  }
}
