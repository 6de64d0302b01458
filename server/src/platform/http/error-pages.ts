/** `/docs/errors`: every error code has its own page, which tells clients how to handle it. */
import { errorDetailExample, type ErrorKind } from './errors.ts';
import type { HttpApp } from './app.ts';
import { redirectTo } from './relative-redirect.ts';

const adviceByStatus: Record<number, string> = {
  400: 'Correct the request. `error.details` lists up to 20 invalid fields. Do not retry the same request: it would fail again.',
  401: 'Send a valid key in the header `Authorization: Bearer <key>`. `reelfeed keys create` creates one.',
  403: 'Use a key with the required permission: a secret key, or one with the scope that the message names. The response is the same whether or not the resource exists.',
  404: 'Check the path and the id. An id of another organization is treated like an unknown id.',
  405: 'Use one of the methods in the `Allow` header of the response.',
  408: 'Send the request again over a faster connection.',
  409: 'Read the resource: its current state does not allow this. Retry when the state has changed.',
  412: 'Read the resource again, apply the change to its new version and send it with the new `ETag`.',
  413: 'Send a smaller body. The description of the route gives its limit.',
  415: 'Send the `Content-Type` given in the description of the route, without a `Content-Encoding`.',
  416: 'Request a range within the size given in the `Content-Range` of the response.',
  417: 'Leave out the header `Expect`, or send `Expect: 100-continue`.',
  422: 'The request is well-formed but cannot be processed with this content. Do not retry it unchanged.',
  429: 'Wait for the number of seconds in `Retry-After`, then send the request again. `RateLimit` gives the remaining quota.',
  431: 'Send fewer or shorter headers.',
  460: 'Send the same part again: it was damaged in transit.',
  500: 'Retry later, using the same `Idempotency-Key` for changes. If the error persists, look up `meta.requestId` in the log of the service.',
  503: 'Wait for the number of seconds in `Retry-After`, then send the request again with the same `Idempotency-Key`. Nothing was changed unless a response says so.',
  507: 'Free some space on the disk of the service, or lower `REELFEED_MIN_FREE_BYTES`. Nothing was stored.',
};

/** Advice for clients on handling an error, with code in backticks. */
export function adviceFor({ status, advice }: ErrorKind): string {
  return advice ?? adviceByStatus[status] ?? 'Do not retry the request unchanged.';
}

/** All codes as a table, for the documentation. */
export function describeErrors(errors: readonly ErrorKind[]): string {
  const cell = (text: string) => text.replaceAll('|', String.raw`\|`);
  return [
    '| Code | Status | Message | What to do |',
    '|---|---|---|---|',
    ...byStatus(errors).map(
      (kind) =>
        `| \`${kind.code}\` | ${kind.status} | ${cell(kind.message)} | ${cell(adviceFor(kind))} |`,
    ),
  ].join('\n');
}

function byStatus(errors: readonly ErrorKind[]): ErrorKind[] {
  return errors.toSorted((a, b) => a.status - b.status || (a.code < b.code ? -1 : 1));
}

export function addErrorPages(app: HttpApp, errors: readonly ErrorKind[]): void {
  const route = { schema: { hide: true }, config: { access: 'public' as const } };
  const index = page('Errors', indexBody(byStatus(errors)));
  app.get('/docs/errors', route, (_request, reply) => sendPage(reply, index));
  app.get('/docs/errors/', route, redirectTo('../errors'));
  for (const kind of errors) {
    const text = page(kind.code, errorBody(kind));
    app.get(`/docs/errors/${kind.code}`, route, (_request, reply) => sendPage(reply, text));
  }
}

function sendPage(
  reply: {
    type(type: string): { header(name: string, value: string): { send(text: string): unknown } };
  },
  text: string,
): unknown {
  return reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
    .send(text);
}

function indexBody(errors: readonly ErrorKind[]): string {
  const rows = errors.map(
    ({ code, status, message }) =>
      `<tr><td>${status}</td><td><a href="errors/${code}">${code}</a></td><td>${escape(message)}</td></tr>`,
  );
  return [
    '<p>Errors have the form <code>{ "error": { "code", "message", "details" }, "meta": { "requestId" } }</code>.',
    'Rely only on <code>code</code>; the message is for people and may change.</p>',
    '<table><tr><th>Status</th><th>Code</th><th>Message</th></tr>',
    ...rows,
    '</table>',
  ].join('\n');
}

function errorBody(kind: ErrorKind): string {
  const { code, status, message } = kind;
  const example = {
    error: { code, message, ...(status === 400 && { details: [errorDetailExample] }) },
    meta: { requestId: 'req_01kabc5m8nfe8v8q1m2vr5t9zd' },
  };
  return [
    `<p>HTTP status <b>${status}</b>. ${escape(message)}</p>`,
    '<h2>What to do</h2>',
    `<p>${markCode(escape(adviceFor(kind)))}</p>`,
    '<h2>Example</h2>',
    `<pre>${escape(JSON.stringify(example, null, 2))}</pre>`,
    '<p><a href="../errors">All errors</a></p>',
  ].join('\n');
}

function page(title: string, body: string): string {
  const style =
    'body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}' +
    'td,th{padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top}' +
    'pre,code{background:#8882;border-radius:4px;padding:.1rem .3rem}pre{padding:1rem;overflow:auto}' +
    // On narrow screens, long codes wrap so that the table fits the page.
    '@media(max-width:40rem){td a,pre{overflow-wrap:anywhere}td,th{font-size:.85rem;padding-right:.5rem}}' +
    ':root{color-scheme:light dark}';
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title} · Reelfeed API</title><style>${style}</style></head>
<body><h1>${title}</h1>
${body}
</body></html>
`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function markCode(text: string): string {
  return text.replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
