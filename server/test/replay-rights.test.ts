/**
 * Proves that repeating another key's request with its Idempotency-Key returns nothing that the
 * caller could not request itself: on every mutating route, with a key that has the required scope
 * and with others that lack it, covering every area.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { apiAreas } from '../src/app/composition.ts';
import { features } from '../src/app/features.ts';
import { createScopes } from '../src/features/keys/scopes.ts';
import { readDescription } from './openapi.ts';
import { startReceiver } from './receiver.ts';
import { routeSamples } from './route-samples.ts';
import { query } from './seed.ts';
import { startService, type Call, type Reply } from './service.ts';

type Schema = { 'x-secret'?: string; properties?: Record<string, Schema> };
type Operation = {
  operationId: string;
  security: Record<string, unknown>[];
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
};

const receiver = await startReceiver();
const service = await startService({ REELFEED_EGRESS_ALLOW: receiver.allow });
const samples = routeSamples(service, receiver.url);
const api = await readDescription(service.url);
const routes = Object.entries<Record<string, Operation>>(api.paths).flatMap(([path, operations]) =>
  Object.entries(operations).flatMap(([method, operation]) =>
    method === 'get' || operation.security.length === 0
      ? []
      : [{ method: method.toUpperCase(), path, operation }],
  ),
);
const { names: scopes, of: scopeOf } = createScopes(apiAreas(features.list));
const writeScopes = scopes.filter((scope) => scope.endsWith(':write'));
/** Keys by their only scope. */
const lesserKeys = new Map<string, string>();

async function makeKey(fields: object): Promise<{ id: string; key: string }> {
  const made = await service.call('POST', '/v1/keys', {
    body: { type: 'secret', name: 'Lesser', ...fields },
  });
  assert.equal(made.status, 201, made.text);
  return made.body.data;
}

before(async () => {
  for (const scope of writeScopes) lesserKeys.set(scope, (await makeKey({ scopes: [scope] })).key);
});

/** Values of a response's fields that its schema marks as secret. */
function secretsOf(schema: Schema, value: unknown): string[] {
  if (typeof value === 'string') return schema['x-secret'] === undefined ? [] : [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    secretsOf(field, (value as Record<string, unknown>)[name]),
  );
}

const isReplay = ({ headers }: Reply) => headers.get('idempotent-replayed') === 'true';

test('a lesser key gets no more by a replay than by its own request', async () => {
  // Its sample creates 30,000 items, and its response has nothing that the others lack.
  const walked = routes.filter(({ operation }) => operation.operationId !== 'cancelBulkJob');
  assert.ok(walked.length > 50, `${walked.length} routes`);
  let withSecrets = 0;
  for (const [index, { method, path: pattern, operation }] of walked.entries()) {
    const name = operation.operationId;
    const [path, { body }] = await sampleOf(name);
    const headers = { 'idempotency-key': `replay-${index}` };
    const first = await service.call(method, path, { body, headers });
    assert.ok(first.status < 300, `${name}: ${first.text}`);
    const { schema = {} } =
      operation.responses[String(first.status)]?.content?.['application/json'] ?? {};
    const secrets = secretsOf(schema, first.body);
    if (secrets.length > 0) withSecrets += 1;
    const needed = scopeOf(method, pattern);
    const others = [0, 1, 2].map((step) => writeScopes[(index + step * 4) % writeScopes.length]);
    for (const scope of new Set([needed, ...others])) {
      const key = lesserKeys.get(scope ?? '') ?? assert.fail(`${name} needs ${scope}`);
      const again = await service.call(method, path, { body, headers, key });
      const what = `${name} by ${scope}: ${again.status} ${again.text.slice(0, 200)}`;
      if (scope !== needed) assert.equal(again.status, 403, what);
      if (isReplay(again)) assert.equal(again.text, first.text, what);
      if (secrets.length > 0) assert.ok(!isReplay(again), what);
      for (const secret of secrets) assert.ok(!again.text.includes(secret), what);
    }
    // The original caller gets its response again, wherever replays are stored.
    const repeated = await service.call(method, path, { body, headers });
    if (secrets.length > 0) assert.ok(isReplay(repeated) && repeated.text === first.text, name);
  }
  assert.ok(withSecrets >= 7, `${withSecrets} routes answer secrets`);
});

async function sampleOf(name: string): Promise<[string, Call]> {
  const [path, call = {}] = (await samples[name]?.()) ?? assert.fail(`${name} has no sample`);
  return [path, call];
}

test('a key that may change keys gets no key by repeating a rotation or a creation', async () => {
  const keeper = await makeKey({ scopes: ['keys:write'] });
  const full = await makeKey({});
  const requests: [string, string, object?][] = [
    ['POST', `/v1/keys/${full.id}/rotate`, { gracePeriod: 60 }],
    ['POST', '/v1/keys', { type: 'secret', name: 'Full' }],
    ['DELETE', `/v1/keys/${full.id}`],
  ];
  for (const [index, [method, path, body]] of requests.entries()) {
    const headers = { 'idempotency-key': `keys-${index}` };
    const call = { headers, ...(body && { body }) };
    const first = await service.call(method, path, call);
    assert.ok(first.status < 300, first.text);
    const again = await service.call(method, path, { ...call, key: keeper.key });
    assert.equal(again.status, 403, again.text);
    assert.equal(again.body.error.code, 'FORBIDDEN');
    assert.ok(isReplay(await service.call(method, path, call)));
  }
});

test('a secret is repeated only to the key that got it and to its successors', async () => {
  const maker = await makeKey({});
  const other = await makeKey({});
  const call: Call = {
    headers: { 'idempotency-key': 'webhook' },
    body: { url: `${receiver.url}/hook`, events: ['*'] },
  };
  const first = await service.call('POST', '/v1/webhooks', { ...call, key: maker.key });
  assert.equal(first.status, 201);
  const refused = await service.call('POST', '/v1/webhooks', { ...call, key: other.key });
  assert.deepEqual([refused.status, refused.body.error.code], [422, 'IDEMPOTENCY_MISMATCH']);
  let { id } = maker;
  for (let turn = 0; turn < 2; turn += 1) {
    const rotated = await service.call('POST', `/v1/keys/${id}/rotate`, { body: {} });
    const { key } = rotated.body.data;
    id = rotated.body.data.id;
    const again = await service.call('POST', '/v1/webhooks', { ...call, key });
    assert.ok(isReplay(again));
    assert.equal(again.text, first.text);
  }
  // A response without a secret belongs to the organization.
  const patch: Call = { headers: { 'idempotency-key': 'name' }, body: { name: 'Renamed' } };
  const renamed = await service.call('PATCH', '/v1/organization', { ...patch, key: maker.key });
  const repeated = await service.call('PATCH', '/v1/organization', { ...patch, key: other.key });
  assert.equal(repeated.text, renamed.text);
});

test('a secret stored by the previous version is repeated only to keys without scopes', async () => {
  const scoped = await makeKey({ scopes: ['webhooks:write'] });
  const call: Call = {
    headers: { 'idempotency-key': 'old' },
    body: { url: `${receiver.url}/old`, events: ['*'] },
  };
  const first = await service.call('POST', '/v1/webhooks', call);
  await query(service, `update idempotent_request set key_family = null`);
  const refused = await service.call('POST', '/v1/webhooks', { ...call, key: scoped.key });
  assert.equal(refused.status, 422);
  assert.equal((await service.call('POST', '/v1/webhooks', call)).text, first.text);
});
