/** Tests what scopes permit, that they cannot be widened, and that rotation leaves no gap. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { createItem } from '../../../test/seed.ts';
import { eventually, send, startService, type Call } from '../../../test/service.ts';
import { apiAreas } from '../../app/composition.ts';
import { features } from '../../app/features.ts';

const service = await startService();

async function makeKey(fields: object) {
  const body = { type: 'secret', name: 'Narrow', ...fields };
  const { status, body: answer, text } = await service.call('POST', '/v1/keys', { body });
  assert.equal(status, 201, text);
  return answer.data;
}

const callAs = (key: string, method: string, target: string, call: Call = {}) =>
  send(service.url + target, method, { key, ...call });

test('a key may do what its scopes name; write includes read; the rest is 403', async () => {
  const item = await createItem(service);
  const writer = await makeKey({ scopes: ['content:write'] });
  const reader = await makeKey({ scopes: ['content:read', 'analytics:read'] });
  assert.deepEqual(reader.scopes, ['content:read', 'analytics:read']);
  const target = `/v1/content/${item.id}`;
  const rows: [key: string, method: string, path: string, status: number, body?: object][] = [
    [writer.key, 'GET', target, 200],
    [writer.key, 'PATCH', target, 200, { title: 'New' }],
    [writer.key, 'GET', '/v1/analytics/overview', 403],
    [writer.key, 'GET', '/v1/keys', 403],
    [writer.key, 'POST', '/v1/webhooks', 403, {}],
    [reader.key, 'GET', target, 200],
    [reader.key, 'GET', '/v1/analytics/overview', 200],
    [reader.key, 'PATCH', target, 403, { title: 'No' }],
    [reader.key, 'POST', '/v1/content/bulk/delete', 403, { ids: [item.id] }],
  ];
  for (const [key, method, path, status, body] of rows) {
    const answer = await callAs(key, method, path, body === undefined ? {} : { body });
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
    if (status === 403) assert.match(answer.body.error.message, /scope \w+:(read|write)/);
  }
  const there = await callAs(reader.key, 'PATCH', target, { body: { title: 'No' } });
  const unknown = await callAs(reader.key, 'PATCH', '/v1/content/x', { body: { title: 'No' } });
  assert.deepEqual(there.body.error, unknown.body.error);
});

test('the guide names every area', async () => {
  const guide = await readFile(new URL('../../../../docs/keys.md', import.meta.url), 'utf8');
  const areas = new Set(Object.values(apiAreas(features.list)));
  assert.deepEqual(
    [...areas].filter((area) => !guide.includes(`\`${area}\``)),
    [],
  );
});

test('a key with scopes cannot create, rotate or revoke a key that may do more', async () => {
  const full = await makeKey({});
  const keeper = await makeKey({ scopes: ['keys:write', 'content:read'] });
  const make = (scopes?: string[]) =>
    callAs(keeper.key, 'POST', '/v1/keys', {
      body: { type: 'secret', name: 'Made', ...(scopes && { scopes }) },
    });
  assert.equal((await make()).status, 403);
  assert.equal((await make(['content:write'])).status, 403);
  const made = await make(['content:read']);
  assert.equal(made.status, 201);
  const rotate = (id: string) => callAs(keeper.key, 'POST', `/v1/keys/${id}/rotate`, { body: {} });
  assert.equal((await rotate(full.id)).status, 403);
  assert.equal((await callAs(keeper.key, 'DELETE', `/v1/keys/${full.id}`)).status, 403);
  assert.equal((await rotate(made.body.data.id)).status, 201);
  const wrong = await service.call('POST', '/v1/keys', {
    body: { type: 'secret', name: 'x', scopes: ['everything'] },
  });
  assert.equal(wrong.body.error.details[0].path, 'scopes[0]');
});

test('no key makes or rotates one with a higher rate limit or a later expiry than its own', async () => {
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  const later = new Date(Date.now() + 7_200_000).toISOString();
  const granters = {
    limited: await makeKey({ rateLimit: 1_000 }),
    expiring: await makeKey({ expiresAt: inAnHour }),
  };
  const free = await makeKey({});
  const narrow = await makeKey({ rateLimit: 999, expiresAt: inAnHour });
  const rows: [by: keyof typeof granters, fields: object, status: number][] = [
    ['limited', {}, 403],
    ['limited', { rateLimit: 1_001 }, 403],
    ['limited', { type: 'publishable' }, 403],
    ['limited', { rateLimit: null }, 403],
    ['limited', { rateLimit: 1_000 }, 201],
    ['expiring', {}, 403],
    ['expiring', { expiresAt: later }, 403],
    ['expiring', { type: 'publishable', expiresAt: null }, 403],
    ['expiring', { expiresAt: inAnHour }, 201],
  ];
  for (const [by, fields, status] of rows) {
    const body = { type: 'secret', name: 'Made', ...fields };
    const answer = await callAs(granters[by].key, 'POST', '/v1/keys', { body });
    assert.equal(answer.status, status, `${by} ${JSON.stringify(fields)}: ${answer.text}`);
  }
  for (const { key } of Object.values(granters)) {
    const rotate = (id: string) => callAs(key, 'POST', `/v1/keys/${id}/rotate`, { body: {} });
    assert.equal((await rotate(free.id)).status, 403);
    assert.equal((await rotate(narrow.id)).status, 201);
  }
  // A key that is being replaced can't extend its own lifetime.
  const replaced = await service.call('POST', `/v1/keys/${free.id}/rotate`, {
    body: { gracePeriod: 600 },
  });
  assert.equal(replaced.status, 201);
  const body = { type: 'secret', name: 'Heir' };
  assert.equal((await callAs(free.key, 'POST', '/v1/keys', { body })).status, 403);
});

test('after a rotation both keys work, the old one for its grace period', async () => {
  const old = await makeKey({ scopes: ['content:read'], rateLimit: 1_000 });
  const rotated = await service.call('POST', `/v1/keys/${old.id}/rotate`, {
    body: { gracePeriod: 3 },
  });
  assert.equal(rotated.status, 201);
  const { key, replaces, scopes, rateLimit, name } = rotated.body.data;
  assert.deepEqual([replaces, scopes, rateLimit, name], [old.id, old.scopes, 1_000, old.name]);
  const status = async (one: string) => (await callAs(one, 'GET', '/v1/content')).status;
  assert.deepEqual([await status(old.key), await status(key)], [200, 200]);
  await eventually('the old key to expire', async () =>
    (await status(old.key)) === 401 ? true : null,
  );
  assert.equal(await status(key), 200);
  const late = await service.call('POST', `/v1/keys/${old.id}/rotate`, { body: {} });
  assert.equal(late.status, 404);
  const audit = await service.call('GET', `/v1/audit?resourceId=${old.id}&action=rotateKey`);
  assert.equal(audit.body.meta.total, 1);
});

test('a rate limit is exact across several processes, and is reported in headers', async () => {
  const other = await startService({}, { beside: service });
  const { key } = await makeKey({ type: 'publishable', rateLimit: 25 });
  const answers = await Promise.all(
    Array.from({ length: 80 }, (_, index) =>
      send(`${index % 2 === 0 ? service.url : other.url}/v1/feed`, 'GET', { key }),
    ),
  );
  const accepted = answers.filter(({ status }) => status === 200);
  assert.equal(accepted.length, 25);
  for (const { status, headers, body } of answers) {
    assert.equal(headers.get('ratelimit-policy'), '"key";q=25;w=60');
    assert.match(headers.get('ratelimit') ?? '', /^"key";r=\d+;t=\d+$/);
    if (status === 200) continue;
    assert.deepEqual([status, body.error.code], [429, 'RATE_LIMITED']);
    const wait = Number(headers.get('retry-after'));
    assert.ok(wait >= 1 && wait <= 61, `${wait}`);
  }
  const free = await makeKey({ type: 'publishable' });
  const unlimited = await send(`${service.url}/v1/feed`, 'GET', { key: free.key });
  assert.deepEqual([unlimited.status, unlimited.headers.get('ratelimit')], [200, null]);
});

test('publishable keys without a custom limit have that of the setting', async () => {
  const limited = await startService(
    { REELFEED_PUBLISHABLE_KEY_RATE_LIMIT: '3' },
    { beside: service },
  );
  const { key } = await makeKey({ type: 'publishable' });
  const statuses: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    statuses.push((await send(`${limited.url}/v1/feed`, 'GET', { key })).status);
  }
  assert.deepEqual(statuses, [200, 200, 200, 429, 429]);
  assert.equal((await limited.call('GET', '/v1/content')).status, 200);
});
