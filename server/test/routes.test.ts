/**
 * Proves rules for every route: who may call it, its methods, its responses. It walks
 * /openapi.json, so a new route is included automatically and fails until it has a sample.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { assertConforms, lenientAjv, readDescription } from './openapi.ts';
import { startReceiver } from './receiver.ts';
import { routeSamples } from './route-samples.ts';
import { createItem, createOrganization, createReadyItems } from './seed.ts';
import { send, startService, type Reply } from './service.ts';

type Described = { schema: object; example?: unknown };
type Operation = {
  operationId?: string;
  summary?: string;
  tags?: string[];
  security: Record<string, unknown>[];
  parameters?: { name: string; in: string; schema: object }[];
  requestBody?: { content: Record<string, Described> };
  responses: Record<string, { description: string; content?: Record<string, Described> }>;
};
type Route = { method: string; path: string; operation: Operation };

const receiver = await startReceiver();
const service = await startService({ REELFEED_EGRESS_ALLOW: receiver.allow });
const samples = routeSamples(service, receiver.url);
const api = await readDescription(service.url);
const routes: Route[] = Object.entries<Record<string, Operation>>(api.paths).flatMap(
  ([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
);

const unknownId = '01890000-0000-7000-8000-000000000000';
const fill = (path: string) => path.replaceAll(/\{[^}]+\}/g, unknownId);
const isPublic = (route: Route) => route.operation.security.length === 0;
const takesPublishable = (route: Route) =>
  route.operation.security.some((one) => 'publishableKey' in one);
const name = ({ method, path }: Route) => `${method} ${path}`;
const eventStream = 'text/event-stream';
/** Its response never ends; live-tail.test.ts covers it. */
const isStream = ({ operation }: Route) =>
  operation.responses['200']?.content?.[eventStream] !== undefined;

function assertFailure(reply: Reply, status: number, code: string, what: string): void {
  assert.equal(reply.status, status, `${what}: ${reply.text.slice(0, 300)}`);
  assert.equal(reply.body.error.code, code, what);
  assert.match(reply.headers.get('content-type') ?? '', /^application\/json; charset=utf-8$/, what);
  assert.equal(reply.headers.get('x-request-id'), reply.body.meta.requestId, what);
}

test('the description is OpenAPI 3.1, each operation with an id, summary, tags and responses', () => {
  assert.match(api.openapi, /^3\.1\.\d+$/);
  assert.ok(api.info.title.length > 0 && api.info.version.length > 0);
  assert.ok(routes.length >= 14, `${routes.length} routes`);
  const ids = new Set<string>();
  for (const route of routes) {
    const { operationId, summary, tags, responses, parameters = [] } = route.operation;
    assert.match(operationId ?? '', /^[a-z][A-Za-z]+$/, name(route));
    assert.ok(!ids.has(operationId ?? ''), `${operationId} is used once`);
    ids.add(operationId ?? '');
    assert.ok((summary ?? '').length > 0, `${name(route)} has a summary`);
    assert.ok((tags ?? []).length > 0, `${name(route)} has tags`);
    const successes = Object.keys(responses).filter((status) => /^2\d\d$/.test(status));
    assert.ok(successes.length >= 1, `${name(route)} has a success`);
    for (const kind of [...successes, '4XX', '5XX']) {
      const answer = responses[kind];
      const type = isStream(route) && kind === '200' ? eventStream : 'application/json';
      assert.ok(answer?.content?.[type]?.schema, `${name(route)}: ${kind}`);
      assert.ok(answer.description.length > 0);
    }
    const inPath = [...route.path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]);
    const declared = parameters.filter((one) => one.in === 'path').map((one) => one.name);
    assert.deepEqual(declared, inPath, name(route));
  }
});

test('every schema of the description compiles', () => {
  const ajv = lenientAjv();
  for (const route of routes) {
    for (const { schema } of route.operation.parameters ?? []) ajv.compile(schema);
    for (const { content = {} } of Object.values(route.operation.responses)) {
      for (const { schema } of Object.values(content)) ajv.compile(schema);
    }
  }
});

test('without a right key every route is 401, whatever else is wrong with the request', async () => {
  const keys = {
    none: null,
    'not a key': 'a',
    'a mistyped key': service.secretKey.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')),
    'an unknown key': 'rf_sk_',
  };
  for (const route of routes.filter((one) => !isPublic(one))) {
    for (const [what, key] of Object.entries(keys)) {
      const reply = await service.call(route.method, fill(route.path), {
        key,
        ...(route.method !== 'GET' && { body: 'no JSON' }),
      });
      assertFailure(reply, 401, 'UNAUTHORIZED', `${name(route)} with ${what}`);
      assert.equal(reply.headers.get('www-authenticate'), 'Bearer');
    }
    const inQuery = `${fill(route.path)}?key=${service.secretKey}&api_key=${service.secretKey}`;
    const reply = await service.call(route.method, inQuery, { key: null });
    assertFailure(reply, 401, 'UNAUTHORIZED', `${name(route)} with the key in the query`);
  }
});

test('a publishable key is 403 on secret routes, whether or not the resource exists', async () => {
  const { id } = await createItem(service);
  const secret = routes.filter((one) => !isPublic(one) && !takesPublishable(one));
  assert.ok(secret.length >= 10);
  for (const route of secret) {
    const answers: string[] = [];
    for (const one of [id, unknownId, 'no id at all']) {
      const reply = await service.call(route.method, route.path.replace('{id}', one), {
        key: service.publishableKey,
      });
      assertFailure(reply, 403, 'FORBIDDEN', name(route));
      answers.push(JSON.stringify(reply.body.error));
    }
    assert.equal(new Set(answers).size, 1, name(route));
  }
});

/** Upload URLs use tus, which a description of JSON routes can't express; see tus.test.ts. */
const tusPath = '/v1/uploads/{token}';
const tusMethods = ['DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];

test('methods that a path lacks are 405 with Allow, also without a key', async () => {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'OPTIONS'];
  for (const [path, operations] of Object.entries<Record<string, Operation>>(api.paths)) {
    const own = Object.keys(operations).map((method) => method.toUpperCase());
    const allowed = new Set(own);
    const hasHead = allowed.has('GET') && !routes.some((one) => one.path === path && isStream(one));
    if (hasHead) allowed.add('HEAD');
    const open = routes.some((route) => route.path === path && takesPublishable(route));
    if (open) allowed.add('OPTIONS');
    if (path === tusPath) for (const method of tusMethods) allowed.add(method);
    for (const method of methods.filter((one) => !allowed.has(one))) {
      const reply = await send(service.url + fill(path), method);
      assertFailure(reply, 405, 'METHOD_NOT_ALLOWED', `${method} ${path}`);
      const allow = (reply.headers.get('allow') ?? '').split(', ');
      assert.deepEqual(new Set(allow), allowed, `${method} ${path}`);
    }
    if (hasHead) {
      const head = await service.call('HEAD', fill(path));
      const get = await service.call('GET', fill(path));
      assert.equal(head.status, get.status, `HEAD ${path}`);
      assert.equal(head.text, '');
    }
  }
});

test('paths that are almost a route are 404', async () => {
  for (const path of [
    '/v1//content',
    '/v1/content/',
    '/V1/content',
    '/v1/CONTENT',
    '/v1/content;a=b',
    '/v1/../v1/content/./x/y',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/v1/content%2f..%2f..',
    '/v2/content',
    '/.env',
  ]) {
    assertFailure(await service.call('GET', path), 404, 'NOT_FOUND', path);
  }
});

test('pages of other origins may call publishable routes and no others', async () => {
  const origin = 'https://app.example';
  for (const route of routes.filter(({ path }) => path !== tusPath)) {
    const preflight = await send(service.url + fill(route.path), 'OPTIONS', {
      headers: { origin, 'access-control-request-method': route.method },
    });
    const open = routes.some((one) => one.path === route.path && takesPublishable(one));
    assert.equal(preflight.status, open ? 204 : 405, name(route));
    const call = { key: service.publishableKey, headers: { origin } };
    const reply = await service.call(route.method, fill(route.path), call);
    const allowed = reply.headers.get('access-control-allow-origin');
    // Beacons are sent with credentials, for which the browser requires an explicit origin.
    const takesBeacons = ['/v1/events', '/v1/events/batch'].includes(route.path);
    const everyOne = takesBeacons ? origin : '*';
    assert.equal(allowed, takesPublishable(route) ? everyOne : null, name(route));
    const credentials = reply.headers.get('access-control-allow-credentials');
    assert.equal(credentials, takesBeacons ? 'true' : null, name(route));
    if (!open) continue;
    assert.equal(preflight.headers.get('access-control-allow-origin'), everyOne);
    assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /Authorization/);
    assert.match(preflight.headers.get('access-control-allow-methods') ?? '', /GET|POST/);
  }
  const refused = await send(`${service.url}/v1/feed`, 'GET', { headers: { origin } });
  assert.equal(refused.status, 401);
  assert.equal(refused.headers.get('access-control-allow-origin'), '*', 'a page may read why');
});

test('allowedOrigins narrows down whose pages may read, by the letter', async () => {
  const own = await createOrganization(service, 'With origins');
  const origin = 'https://app.example';
  const change = {
    key: own.secretKey,
    body: { allowedOrigins: [origin, 'http://localhost:5173'] },
  };
  assert.equal((await service.call('PATCH', '/v1/organization', change)).status, 200);
  const allowedFor = async (from: string | null) => {
    const headers: Record<string, string> = from === null ? {} : { origin: from };
    const reply = await service.call('GET', '/v1/feed', { key: own.publishableKey, headers });
    assert.equal(reply.status, 200);
    assert.match(reply.headers.get('vary') ?? '', /origin/i);
    return reply.headers.get('access-control-allow-origin');
  };
  assert.equal(await allowedFor(origin), origin);
  assert.equal(await allowedFor('http://localhost:5173'), 'http://localhost:5173');
  for (const other of [null, 'null', 'https://app.example.evil.example', 'http://app.example']) {
    assert.equal(await allowedFor(other), null, String(other));
  }
  for (const wrong of [
    '*',
    'app.example',
    'https://app.example/',
    'https://a.example/path',
    'null',
  ]) {
    const reply = await service.call('PATCH', '/v1/organization', {
      key: own.secretKey,
      body: { allowedOrigins: [wrong] },
    });
    assertFailure(reply, 400, 'VALIDATION_ERROR', wrong);
  }
});

before(() => createReadyItems(service, 3));

test('real answers of every route are what their own schemas say', async () => {
  const ajv = lenientAjv();
  for (const route of routes.filter((one) => !isStream(one))) {
    const sample = samples[route.operation.operationId ?? ''];
    assert.ok(sample, `${name(route)} needs a sample in this test`);
    const [path, call] = await sample();
    const reply = await service.call(route.method, path, call);
    const declared = route.operation.responses[String(reply.status)];
    assert.ok(declared, `${name(route)} answered ${reply.status}: ${reply.text.slice(0, 300)}`);
    assertConforms(ajv, declared, reply, name(route));
    assert.equal(reply.headers.get('x-request-id'), reply.body.meta.requestId, name(route));
    assert.equal(reply.headers.get('x-content-type-options'), 'nosniff');
    const missing = await service.call(route.method, fill(route.path), {
      key: null,
      ...(route.method === 'PUT' && { body: 'a' }),
    });
    const failure = route.operation.responses['4XX'];
    assert.ok(failure);
    assertConforms(ajv, failure, missing, name(route));
  }
});

test('every JSON body and every JSON response has a valid example', () => {
  // Requests allow more formats than responses, for example for timestamps.
  const lenient = new Ajv2020({ strict: false, validateFormats: false });
  const json = 'application/json';
  for (const route of routes.filter((one) => !isStream(one))) {
    const { requestBody, responses } = route.operation;
    const what = `${name(route)}, fix it by npm run docs:examples`;
    const answers = Object.entries(responses)
      .filter(([status]) => status.startsWith('2'))
      .flatMap(([, { content }]) => content?.[json] ?? []);
    assert.ok(
      answers.some((answer) => 'example' in answer),
      what,
    );
    const body = requestBody?.content[json];
    assert.ok(body === undefined || 'example' in body, `the body of ${what}`);
    for (const { schema, example } of [...answers, ...(body === undefined ? [] : [body])]) {
      const validate = lenient.compile(schema);
      assert.ok(
        example === undefined || validate(example),
        `${what}: ${JSON.stringify(validate.errors)}`,
      );
    }
  }
  for (const tag of api.tags) assert.ok(tag.description, `${tag.name} is described`);
});
