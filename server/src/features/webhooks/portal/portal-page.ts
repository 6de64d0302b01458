/** The portal's static files. They are the same for everyone; the content depends on the token. */
import { readFileSync } from 'node:fs';
import type { HttpApp } from '../../../platform/http/app.ts';

const route = { schema: { hide: true }, config: { access: 'public' as const } };

const read = (name: string): string =>
  readFileSync(new URL(`./page/${name}`, import.meta.url), 'utf8');

const files = {
  '/portal/webhooks': ['portal.html', 'text/html; charset=utf-8'],
  '/portal/webhooks.js': ['portal.js', 'text/javascript; charset=utf-8'],
  '/portal/webhooks.css': ['portal.css', 'text/css; charset=utf-8'],
} as const;

/** @param frameOrigins origins whose pages may embed the portal in a frame */
export function addPortalPage(app: HttpApp, frameOrigins: readonly string[]): void {
  const headers = {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      `frame-ancestors ${frameOrigins.length === 0 ? "'none'" : frameOrigins.join(' ')}`,
    ].join('; '),
    'cache-control': 'no-cache',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
  for (const [path, [name, type]] of Object.entries(files)) {
    const text = read(name);
    app.get(path, route, (_request, reply) => reply.headers(headers).type(type).send(text));
  }
}
