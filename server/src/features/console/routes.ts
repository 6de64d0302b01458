import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { HttpApp } from '../../platform/http/app.ts';
import { sendBuiltFile } from '../../platform/http/built-file.ts';
import { redirectTo } from '../../platform/http/relative-redirect.ts';
import { ApiError } from '../../platform/http/errors.ts';
import type { Authenticate } from '../../platform/http/principal.ts';
import { answers, Closed, Envelope } from '../../platform/http/schemas.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { peopleErrors, type PersonSessions } from '../people/people.ts';
import { consoleHeader, type ConsoleSessions } from './console.ts';
import { consolePage } from './page-files.ts';

export type ConsoleRouteParts = {
  readonly sessions: ConsoleSessions;
  readonly authenticate: Authenticate;
  readonly personSessions: Pick<PersonSessions, 'end'>;
  /** Whether an organization's secret keys may sign in. */
  readonly isKeySignInOpen: (organizationId: OrganizationId) => Promise<boolean>;
  readonly publicUrl: string;
};

const config = { access: 'public' as const };
const hidden = { schema: { hide: true }, config };
/** A console view consists of dozens of files, so they don't count as pages for rate limits. */
const asset = { schema: { hide: true }, config: { access: 'public', limitedAs: 'media' } } as const;

export function addConsoleRoutes(app: HttpApp, parts: ConsoleRouteParts): void {
  addSessionRoutes(app, parts);
  const headers = pageHeaders(parts.publicUrl);
  const sendPage = (_request: FastifyRequest, reply: FastifyReply) =>
    reply
      .headers(headers)
      .header('cache-control', 'no-cache')
      .type('text/html; charset=utf-8')
      .send(consolePage().html);
  app.get('/console/', hidden, sendPage);
  // The page's addresses are relative to its folder, and its views are in the fragment.
  app.get('/console', hidden, redirectTo('console/'));
  app.get('/console/*', hidden, (request, reply) => {
    const [path = ''] = request.url.split('?');
    const depth = path.slice('/console/'.length).split('/').length - 1;
    return redirectTo('../'.repeat(depth) || './')(request, reply);
  });
  app.get<{ Params: { name: string } }>('/console/assets/:name', asset, (request, reply) => {
    const file = consolePage().files.get(request.params.name);
    if (file === undefined) {
      // Another process of the cluster may have been upgraded already, so the next response may
      // differ.
      reply.header('cache-control', 'no-store');
      throw new ApiError('NOT_FOUND');
    }
    // Names of the built files contain a hash, so they may be cached forever.
    reply.header('cache-control', 'public, max-age=31536000, immutable');
    return sendBuiltFile(request, reply, file);
  });
}

const Session = Closed(
  {
    secretKey: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    link: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  },
  { minProperties: 1, description: 'Either a secret key or the token of a sign-in link.' },
);

function addSessionRoutes(app: HttpApp, parts: ConsoleRouteParts): void {
  const { sessions, authenticate, personSessions, isKeySignInOpen, publicUrl } = parts;
  const secure = publicUrl.startsWith('https:');
  app.post(
    '/console/session',
    {
      config,
      schema: {
        hide: true,
        body: Session,
        response: answers({ 200: Envelope(Type.Object({ signedIn: Type.Boolean() })) }),
      },
    },
    async (request, reply) => {
      // Otherwise, another site could sign a visitor in with its own key.
      if (request.headers[consoleHeader] === undefined) throw new ApiError('FORBIDDEN');
      const { link, secretKey = sessions.takeLink(link ?? '') } = request.body;
      if (secretKey === null) {
        throw new ApiError('UNAUTHORIZED', {
          message: 'This link has already been used or has expired. Sign in with a secret key.',
        });
      }
      const principal = await authenticate(secretKey);
      if (principal.type !== 'secret') throw new ApiError('FORBIDDEN');
      if (!(await isKeySignInOpen(principal.organizationId))) {
        throw new ApiError(peopleErrors.KEY_SIGN_IN_CLOSED);
      }
      return reply
        .header('set-cookie', await sessions.start(secretKey, principal, { secure }))
        .send({ data: { signedIn: true } });
    },
  );
  app.delete('/console/session', hidden, async (request, reply) =>
    reply
      .header('set-cookie', [await sessions.end(request), await personSessions.end(request)])
      .send({ data: { signedIn: false } }),
  );
}

/** Everything is loaded from the service; inline styles are allowed because Mantine needs them. */
function pageHeaders(publicUrl: string): Record<string, string> {
  const media = new URL(publicUrl).origin;
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self' 'unsafe-inline'",
      `img-src 'self' data: ${media}`,
      `media-src 'self' blob: ${media}`,
      `connect-src 'self' ${media}`,
      "font-src 'self'",
      "frame-src 'self'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  };
}
