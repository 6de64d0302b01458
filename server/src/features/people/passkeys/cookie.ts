/** The cookie that binds a ceremony to the browser that started it. */
import type { FastifyRequest } from 'fastify';
import { ceremonySeconds } from './ceremony.ts';

const cookieName = 'reelfeed_passkey';

/** @returns the value of `Set-Cookie`; an empty token removes the cookie */
export function ceremonyCookie(publicUrl: string, token: string): string {
  const { pathname, protocol } = new URL(`${publicUrl}/console/account/`);
  const maxAge = token === '' ? 0 : ceremonySeconds;
  return (
    `${cookieName}=${token}; Path=${pathname}; HttpOnly; SameSite=Strict; Max-Age=${maxAge}` +
    (protocol === 'https:' ? '; Secure' : '')
  );
}

export function readCeremony({ headers }: FastifyRequest): string | null {
  const found = new RegExp(`(?:^|;\\s*)${cookieName}=([\\w-]{43})(?:;|$)`).exec(
    headers.cookie ?? '',
  );
  return found?.[1] ?? null;
}
