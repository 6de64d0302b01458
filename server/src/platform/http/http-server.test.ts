/** Proves that no form of HTTP message bypasses the parser, the limits or the timeouts. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { silentLog } from '../../../test/database.ts';
import { sendRaw } from '../../../test/raw-http.ts';
import { Type } from 'typebox';
import { newTypeId } from '../values/ids.ts';
import { ApiError } from './errors.ts';
import { Closed } from './schemas.ts';
import { createHttpServer } from './server.ts';

let draining = false;
let closing = false;
const server = await createHttpServer({
  log: silentLog,
  publicUrl: 'http://localhost',
  version: '0',
  authenticate: async (bearer) => {
    if (bearer !== 'good') throw new ApiError('UNAUTHORIZED');
    const keyId = newTypeId('key');
    return {
      organizationId: newTypeId('org'),
      callerId: keyId,
      keyId,
      person: null,
      family: 'key',
      type: 'secret',
      scopes: null,
      rateLimit: null,
      allowedOrigins: [],
    };
  },
  observe: () => undefined,
  isDraining: () => draining || closing,
  isClosing: () => closing,
  bodyTimeoutMs: 1_000,
  headersTimeoutMs: 1_000,
});
const { app } = server;
let handled = 0;
app.post(
  '/echo',
  {
    bodyLimit: 1024 * 1024,
    config: { access: 'public' },
    schema: { body: Closed({ title: Type.String() }) },
  },
  (request) => {
    handled += 1;
    return { data: request.body };
  },
);
app.post(
  '/media',
  { config: { access: 'public', streamsBody: true }, schema: { body: Closed({}) } },
  () => ({ data: 'taken' }),
);
app.get('/locked', { config: { access: 'secret' } }, () => ({ data: 'in' }));
app.get('/broken', { config: { access: 'public' } }, () => {
  throw new Error('select secret from /etc/passwd');
});
app.post('/items/special', { config: { access: 'secret' } }, () => ({ data: 'in' }));
app.get('/items/:id/parts', { config: { access: 'publishable' } }, () => ({ data: 'in' }));
app.post('/items/special/parts', { config: { access: 'secret' } }, () => ({ data: 'in' }));
app.get('/items/:id', { config: { access: 'public' } }, (request) => ({
  data: (request.params as { id: string }).id,
}));
server.complete();
const url = await app.listen({ port: 0, host: '127.0.0.1' });
after(() => app.close());

const crlf = '\r\n';
const lines = (...texts: string[]) => [...texts, '', ''].join(crlf);
const good = '{"title":"a"}';
const post = (headers: string[], body: string) =>
  lines('POST /echo HTTP/1.1', 'Host: x', 'Connection: close', ...headers) + body;
const json = ['Content-Type: application/json', `Content-Length: ${good.length}`];

test('slowly arriving headers are ended with 408', async () => {
  const drip = Array.from({ length: 40 }, (_, index) => [`X-${index}: 1${crlf}`, 100]).flat();
  const answer = await sendRaw(url, [`GET /locked HTTP/1.1${crlf}Host: x${crlf}`, ...drip]);
  assert.deepEqual(answer.statuses, [408]);
  assert.equal(answer.closed, true);
  assert.equal(answer.body.error.code, 'REQUEST_TIMEOUT');
  assert.match(answer.text, /X-Request-Id: req_/);
});

test('JSON that drips in is ended with 408, also on a route that streams media', async () => {
  for (const path of ['/echo', '/media']) {
    const type = 'Content-Type: application/json';
    const head = lines(`POST ${path} HTTP/1.1`, 'Host: x', type, 'Content-Length: 10000');
    const drip = Array.from({ length: 60 }, () => [' ', 50]).flat();
    const answer = await sendRaw(url, [head, '{', ...drip]);
    assert.deepEqual(answer.statuses, [408]);
    assert.equal(answer.closed, true);
    assert.equal(answer.body.error.code, 'REQUEST_TIMEOUT');
  }
});

test('a body that never comes after 100-continue is ended as well', async () => {
  const answer = await sendRaw(url, [
    lines('POST /echo HTTP/1.1', 'Host: x', ...json, 'Expect: 100-continue'),
  ]);
  assert.deepEqual(answer.statuses, [100, 408]);
  assert.equal(answer.closed, true);
});

test('a body within its time is taken, also in pieces', async () => {
  const answer = await sendRaw(url, [post(json, ''), good.slice(0, 5), 50, good.slice(5)]);
  assert.deepEqual(answer.statuses, [200]);
});

test('ambiguous lengths and broken syntax smuggle no second request through', async () => {
  const smuggled = lines('GET /locked HTTP/1.1', 'Host: x', 'Authorization: Bearer good');
  const attacks: Record<string, string> = {
    'length and chunks': post(
      [...json, 'Transfer-Encoding: chunked'],
      `0${crlf}${crlf}${smuggled}`,
    ),
    'two lengths': post([...json, 'Content-Length: 0'], good + smuggled),
    'two lengths in one line': post(
      ['Content-Type: application/json', 'Content-Length: 13, 0'],
      good,
    ),
    'a signed length': post(['Content-Type: application/json', 'Content-Length: +13'], good),
    'a folded header': post([...json, 'X-Folded: a', ' Transfer-Encoding: chunked'], good),
    'a bare line feed': `POST /echo HTTP/1.1\nHost: x\nContent-Length: 13\n\n${good}${smuggled}`,
    'a space before the colon': post(['Content-Length : 13'], good),
    'a coding that is not chunked': post(['Transfer-Encoding: gzip'], good),
    'an unknown protocol': `GET /locked HTTP/7.3${crlf}${crlf}`,
    'no protocol': `GET /locked${crlf}`,
    'a NUL in a header': post([...json, 'X-Nul: a\0b'], good),
    'a huge chunk extension': post(
      ['Content-Type: application/json', 'Transfer-Encoding: chunked'],
      `1;${'x'.repeat(1024 * 1024)}${crlf}`,
    ),
  };
  for (const [name, text] of Object.entries(attacks)) {
    const before = handled;
    const { statuses, closed } = await sendRaw(url, [text]);
    assert.equal(closed, true, `${name}: the connection is ended`);
    assert.ok(statuses.length <= 1, `${name}: one answer at most, not ${statuses.join()}`);
    assert.ok(
      statuses.every((status) => [400, 408, 413].includes(status)),
      `${name}: ${statuses.join()}`,
    );
    assert.equal(handled, before, `${name}: no handler ran`);
  }
});

test('oversize headers are 431', async () => {
  for (const headers of [
    `X-Big: ${'a'.repeat(20_000)}`,
    Array.from({ length: 2_000 }, (_, index) => `X-${index}: 1`).join(crlf),
  ]) {
    const answer = await sendRaw(url, [lines('GET /locked HTTP/1.1', 'Host: x', headers)]);
    assert.deepEqual(answer.statuses, [431]);
    assert.equal(answer.body.error.code, 'HEADERS_TOO_LARGE');
  }
});

test('only JSON as UTF-8 reaches validation, whatever the Content-Type looks like', async () => {
  const refused = [
    'application/json\ta',
    'application/json garbage',
    'application/jsonx',
    'text/plain',
    'application/json; charset=utf-16',
    'application/json; charset="iso-8859-1"',
    'application/x-www-form-urlencoded',
    '',
  ];
  for (const type of refused) {
    const wrong = '{"title":5,"unknown":1}';
    const headers = [`Content-Length: ${wrong.length}`, `Content-Type: ${type}`];
    const { statuses, body } = await sendRaw(url, [post(headers, wrong)]);
    assert.deepEqual(statuses, [415], JSON.stringify(type));
    assert.equal(body.error.code, 'UNSUPPORTED_MEDIA_TYPE');
  }
  const withoutType = await sendRaw(url, [post([`Content-Length: ${good.length}`], good)]);
  assert.deepEqual(withoutType.statuses, [415]);
  for (const type of ['APPLICATION/JSON', 'application/json ; charset=UTF-8', 'Application/Json']) {
    const headers = [`Content-Length: ${good.length}`, `Content-Type: ${type}`];
    const { statuses } = await sendRaw(url, [post(headers, good)]);
    assert.deepEqual(statuses, [200], type);
  }
});

test('a body that is not a UTF-8 JSON object is 400', async () => {
  const bodies = ['', '{', 'null', '[]', '"a"', '5', '{"title":"a"}x', "{'title':'a'}"];
  for (const body of bodies) {
    const headers = [
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
    ];
    const answer = await sendRaw(url, [post(headers, body)]);
    assert.deepEqual(answer.statuses, [400], JSON.stringify(body));
    assert.equal(answer.body.error.code, 'INVALID_REQUEST', JSON.stringify(body));
  }
  const latin1 = Buffer.from('{"title":"\xe9"}', 'latin1');
  const headers = ['Content-Type: application/json', `Content-Length: ${latin1.length}`];
  const answer = await sendRaw(url, [post(headers, ''), latin1]);
  assert.deepEqual(answer.statuses, [400]);
  assert.match(answer.body.error.message, /UTF-8/);
});

test('a body of 1 MiB is read and one of a byte more is 413', async () => {
  for (const [extra, status] of [
    [0, 200],
    [1, 413],
  ] as const) {
    const text = `{"title":"${'a'.repeat(1024 * 1024 - 12 + extra)}"}`;
    const headers = ['Content-Type: application/json', `Content-Length: ${text.length}`];
    const { statuses } = await sendRaw(url, [post(headers, text)]);
    assert.deepEqual(statuses, [status]);
  }
  const chunked = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
  const chunk = `10000${crlf}${'x'.repeat(65_536)}${crlf}`;
  const answer = await sendRaw(url, [
    post(chunked, ''),
    ...Array.from({ length: 20 }, () => chunk),
  ]);
  assert.deepEqual(answer.statuses, [413]);
});

test('malformed paths and unusual request forms get the error envelope or a closed connection', async () => {
  const targets = ['/%', '/%ff', '/items/%c0%ae', '/items/%00', '/..;/locked', '/%2e%2e/locked'];
  for (const target of targets) {
    const answer = await sendRaw(url, [
      lines(`GET ${target} HTTP/1.1`, 'Host: x', 'Connection: close'),
    ]);
    assert.ok([400, 404].includes(answer.statuses[0] ?? 0), `${target}: ${answer.statuses.join()}`);
    assert.match(answer.body.meta.requestId, /^req_/, target);
    assert.match(answer.text, /x-request-id: req_/i, target);
  }
  const slash = await sendRaw(url, [
    lines('GET /items/a%2Fb HTTP/1.1', 'Host: x', 'Connection: close'),
  ]);
  assert.equal(slash.body.data, 'a/b');
  for (const target of ['/locked/', '//locked', '/LOCKED', '/locked%2f']) {
    const answer = await sendRaw(url, [
      lines(`GET ${target} HTTP/1.1`, 'Host: x', 'Connection: close'),
    ]);
    assert.deepEqual(answer.statuses, [404], target);
  }
});

test('a token is taken from exactly one well-formed Authorization header', async () => {
  const get = (...headers: string[]) =>
    sendRaw(url, [lines('GET /locked HTTP/1.1', 'Host: x', 'Connection: close', ...headers)]);
  assert.deepEqual((await get('Authorization: Bearer good')).statuses, [200]);
  assert.deepEqual((await get('Authorization: bearer good')).statuses, [200]);
  const refused = [
    [],
    ['Authorization: Bearer '],
    ['Authorization: Bearer'],
    ['Authorization: good'],
    ['Authorization: Basic good'],
    ['Authorization: Bearer good good'],
    ['Authorization: Bearer good', 'Authorization: Bearer good'],
    [`Authorization: Bearer ${'a'.repeat(8_000)}`],
    ['Authorization: Bearer g\xf6\xf6d'],
    ['X-Authorization: Bearer good'],
  ];
  for (const headers of refused) {
    const { statuses, body, text } = await get(...headers);
    assert.deepEqual(statuses, [401], headers.join());
    assert.equal(body.error.code, 'UNAUTHORIZED');
    assert.match(text, /www-authenticate: Bearer/i);
  }
});

test('every method that a route lacks is 405 with the allowed ones', async () => {
  for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'POST']) {
    const { statuses, text } = await sendRaw(url, [
      lines(`${method} /locked HTTP/1.1`, 'Host: x', 'Connection: close', 'Content-Length: 0'),
    ]);
    assert.deepEqual(statuses, [405], method);
    assert.match(text, /allow: GET, HEAD/i, method);
  }
});

test('a fixed path is not taken for one with a parameter, whatever its methods', async () => {
  const cases = [
    ['GET', '/items/special'],
    ['GET', '/items/special/parts'],
    ['OPTIONS', '/items/special/parts'],
    ['PATCH', '/items/special/parts'],
  ];
  for (const [method, path] of cases) {
    const { statuses, text } = await sendRaw(url, [
      lines(`${method} ${path} HTTP/1.1`, 'Host: x', 'Connection: close', 'Content-Length: 0'),
    ]);
    assert.deepEqual(statuses, [405], `${method} ${path}`);
    assert.match(text, /allow: POST\r/i, `${method} ${path}`);
  }
});

test('an unexpected error discloses no details', async () => {
  const { statuses, text, body } = await sendRaw(url, [
    lines('GET /broken HTTP/1.1', 'Host: x', 'Connection: close'),
  ]);
  assert.deepEqual(statuses, [500]);
  assert.equal(body.error.code, 'INTERNAL_ERROR');
  assert.doesNotMatch(text, /select|passwd|\.ts|at /);
});

test('the server survives a thousand pipelined requests and a reset', async () => {
  const one = lines('GET /locked HTTP/1.1', 'Host: x', 'Authorization: Bearer good');
  await sendRaw(url, [one.repeat(1_000)], { timeoutMs: 50 });
  const answer = await sendRaw(url, [one.repeat(3)], { answers: 3 });
  assert.deepEqual(answer.statuses, [200, 200, 200]);
});

test('a body of an unsupported type or encoding gets 415', async () => {
  const typed = (...headers: string[]) =>
    sendRaw(url, [post([...headers, `Content-Length: ${good.length}`], good)]);
  for (const headers of [
    ['Content-Type: text/plain'],
    ['Content-Type: application/xml'],
    ['Content-Type: nonsense'],
    [],
    ['Content-Type: application/json', 'Content-Encoding: gzip'],
    ['Content-Type: application/json', 'Content-Encoding: zstd'],
    ['Content-Type: application/json; charset=latin1'],
  ]) {
    const { statuses, body } = await typed(...headers);
    assert.deepEqual(
      [statuses, body.error.code],
      [[415], 'UNSUPPORTED_MEDIA_TYPE'],
      String(headers),
    );
  }
  assert.deepEqual(
    (await typed('Content-Type: application/json', 'Content-Encoding: identity')).statuses,
    [200],
  );
});

test('while draining, requests are served and their connections end', async () => {
  draining = true;
  try {
    const { statuses, text, closed } = await sendRaw(url, [
      lines('GET /items/7 HTTP/1.1', 'Host: x'),
    ]);
    assert.deepEqual(statuses, [200]);
    assert.match(text, /connection: close/i);
    assert.equal(closed, true);
  } finally {
    draining = false;
  }
});

test('while closing, requests get 503 with Retry-After in the envelope', async () => {
  closing = true;
  try {
    const { statuses, text, body } = await sendRaw(url, [lines('GET /locked HTTP/1.1', 'Host: x')]);
    assert.deepEqual(statuses, [503]);
    assert.equal(body.error.code, 'UNAVAILABLE');
    assert.match(text, /retry-after: 2/i);
  } finally {
    closing = false;
  }
});

test('a route that does not state who may call it is rejected at startup', async () => {
  const other = await createHttpServer({
    log: silentLog,
    publicUrl: 'http://localhost',
    version: '0',
    authenticate: async () => {
      throw new ApiError('UNAUTHORIZED');
    },
    observe: () => undefined,
    isDraining: () => false,
    isClosing: () => false,
  });
  assert.throws(() => other.app.get('/open', () => ({})), /access/);
  await other.app.close();
});
