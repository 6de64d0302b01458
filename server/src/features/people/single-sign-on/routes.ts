/**
 * Redirects to the provider and back. The browser holds a token in a separate cookie: the response
 * counts only in that browser, once, and within ten minutes. The cookie is `SameSite=Lax` because
 * the provider redirects from another site; only the console's page can set it.
 */
import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Db } from '../../../platform/database/database.ts';
import type { HttpApp } from '../../../platform/http/app.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import { answers, Envelope } from '../../../platform/http/schemas.ts';
import type { Attempts } from '../attempts.ts';
import { peopleErrors } from '../errors.ts';
import { requireConsole, type PersonSessions } from '../sessions.ts';
import { hashToken, newToken } from '../tokens.ts';
import { createProvider, type Provider } from './provider.ts';
import { insertStart, takeStart } from './queries.ts';
import type { SingleSignOnConfig } from './settings.ts';
import { signInByClaims } from './sign-in.ts';

type Parts = {
  readonly db: Db;
  readonly attempts: Attempts;
  readonly sessions: PersonSessions;
  readonly publicUrl: string;
};

const config = { access: 'public' as const };
const cookieName = 'reelfeed_sign_in';
const startSeconds = 600;
const backPath = '/console/account/oidc/callback';

export function addSingleSignOnRoutes(
  app: HttpApp,
  parts: Parts,
  settings: SingleSignOnConfig,
): void {
  const provider = createProvider(settings, parts.publicUrl + backPath);
  addStartRoute(app, parts, provider);
  addBackRoute(app, parts, settings, provider);
}

function addStartRoute(app: HttpApp, { db, attempts, publicUrl }: Parts, provider: Provider): void {
  app.post(
    '/console/account/oidc/start',
    {
      config,
      schema: {
        hide: true,
        response: answers({ 200: Envelope(Type.Object({ url: Type.String() })) }),
      },
    },
    async (request, reply) => {
      requireConsole(request);
      await attempts.take('sign-in', request.client.address, null);
      const token = newToken();
      const url = await provider.begin(token);
      await insertStart(db, hashToken(token), startSeconds);
      return reply
        .header('set-cookie', startCookie(publicUrl, token, startSeconds))
        .send({ data: { url } });
    },
  );
}

function addBackRoute(
  app: HttpApp,
  { db, attempts, sessions, publicUrl }: Parts,
  settings: SingleSignOnConfig,
  provider: Provider,
): void {
  async function finish(request: FastifyRequest): Promise<string> {
    await attempts.take('sign-in', request.client.address, null);
    const answer = new URL(publicUrl + request.url.slice(request.url.indexOf(backPath)));
    const token = readToken(request);
    // A response for another browser must not consume this browser's sign-in.
    const isOwn = token !== null && provider.isFor(answer, token);
    if (!isOwn || !(await takeStart(db, hashToken(token)))) {
      throw new ApiError(peopleErrors.SINGLE_SIGN_ON_STATE);
    }
    const claims = await provider.finish(answer, token);
    return sessions.start(request, await signInByClaims(db, settings, claims, request.id));
  }
  app.get(backPath, { config, schema: { hide: true } }, async (request, reply) => {
    void reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
    try {
      const session = await finish(request);
      return await reply
        .header('set-cookie', [session, startCookie(publicUrl, '', 0)])
        .redirect(`${publicUrl}/console/#/overview`, 303);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      logRefusal(request.log, error);
      return reply.redirect(`${publicUrl}/console/#/overview?refused=${error.code}`, 303);
    }
  });
}

/** The page shows what was rejected; the log shows the operator what the provider sent. */
function logRefusal(log: FastifyBaseLogger, { code, cause }: ApiError): void {
  const told = cause instanceof Error ? { cause: cause.message, ...codeOf(cause) } : {};
  log.warn({ code, ...told }, 'single sign-on rejected');
}

function codeOf(error: Error): { causeCode?: unknown } {
  return 'code' in error ? { causeCode: error.code } : {};
}

function startCookie(publicUrl: string, token: string, maxAge: number): string {
  const { pathname, protocol } = new URL(publicUrl + backPath);
  return (
    `${cookieName}=${token}; Path=${pathname}; HttpOnly; SameSite=Lax; Max-Age=${maxAge}` +
    (protocol === 'https:' ? '; Secure' : '')
  );
}

function readToken({ headers }: FastifyRequest): string | null {
  const found = new RegExp(`(?:^|;\\s*)${cookieName}=([\\w-]{43})(?:;|$)`).exec(
    headers.cookie ?? '',
  );
  return found?.[1] ?? null;
}
