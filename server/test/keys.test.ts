/** Proves the lifecycle of keys on every process: created, shown once, listed, expired, revoked. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateKey } from '../src/features/keys/key-format.ts';
import { createAuthenticator } from '../src/features/keys/keys.ts';
import { organizationRows } from '../src/features/organizations/organizations.ts';
import { openDatabase } from '../src/platform/database/database.ts';
import { silentLog } from './database.ts';
import { createOrganization, query } from './seed.ts';
import { eventually, startService } from './service.ts';
import { pause, untilAfter } from './waiting.ts';

const service = await startService();
const second = await startService({}, { beside: service });

type NewKey = { type?: string; name?: string; expiresAt?: string | null; scopes?: string[] };

async function makeKey(key: NewKey = {}, by = service.secretKey) {
  const { status, body, text } = await service.call('POST', '/v1/keys', {
    key: by,
    body: { type: 'secret', name: 'A key', ...key },
  });
  assert.equal(status, 201, text);
  return body.data;
}

const reads = (key: string) => service.call('GET', '/v1/organization', { key });

test('a key is shown once: lists and revocations show its first ten characters', async () => {
  const made = await makeKey({ name: 'Shown \u{1F511} once' });
  assert.deepEqual(Object.keys(made).toSorted(), [
    'createdAt',
    'expiresAt',
    'id',
    'key',
    'lastUsedAt',
    'name',
    'prefix',
    'rateLimit',
    'revokedAt',
    'scopes',
    'type',
  ]);
  assert.match(made.id, /^key_[0-9a-hjkmnp-tv-z]{26}$/);
  assert.equal(made.prefix, made.key.slice(0, 10));
  assert.equal(made.lastUsedAt, null);
  assert.equal((await reads(made.key)).status, 200);
  const list = await service.call('GET', '/v1/keys?limit=100');
  const listed = list.body.data.find((key: { id: string }) => key.id === made.id);
  const { key, ...shown } = made;
  assert.deepEqual({ ...listed, lastUsedAt: null }, shown);
  const revoked = await service.call('DELETE', `/v1/keys/${made.id}`);
  assert.equal(revoked.status, 200);
  assert.equal(typeof revoked.body.data.revokedAt, 'string');
  for (const text of [list.text, revoked.text]) assert.ok(!text.includes(key));
});

test('the database holds no key in plain text', async () => {
  const { key } = await makeKey();
  const tables = await query(
    service,
    `select table_name from information_schema.tables where table_schema = 'public'`,
  );
  assert.ok(tables.length > 5);
  for (const { table_name: table } of tables) {
    const [row] = await query(
      service,
      `select count(*)::int as hits from "${String(table)}" as t
       where t::text like '%' || $1 || '%'
          or t::text like '%' || encode(convert_to($1, 'utf8'), 'hex') || '%'`,
      [key],
    );
    assert.equal(row?.['hits'], 0, String(table));
  }
});

test('a mistyped key is rejected without a database read', async () => {
  // Without a database, only requests that don't need it succeed.
  await using nowhere = openDatabase({
    connection: { url: 'postgres://nobody@127.0.0.1:1/nothing' },
    poolSize: 2,
    log: silentLog,
  });
  const { authenticate } = createAuthenticator(nowhere.db, silentLog, organizationRows);
  const key = generateKey('secret');
  const mistyped = key.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
  for (const text of [mistyped, key.slice(1), '', 'rf_sk_', null]) {
    await assert.rejects(authenticate(text), { code: 'UNAUTHORIZED' });
  }
  await assert.rejects(authenticate(key), { code: 'ECONNREFUSED' });
  assert.equal((await reads(key)).status, 401, 'right form, but unknown');
});

test('a revoked key is rejected immediately where it was revoked, and on every process within 5 s', async () => {
  const made = await makeKey();
  const onSecond = () => second.call('GET', '/v1/organization', { key: made.key });
  assert.equal((await onSecond()).status, 200);
  assert.equal((await reads(made.key)).status, 200);
  await service.call('DELETE', `/v1/keys/${made.id}`);
  const revokedAt = performance.now();
  const here = await reads(made.key);
  assert.equal(here.status, 401);
  assert.equal(here.body.error.code, 'KEY_REVOKED');
  await eventually('the second process to refuse', async () =>
    (await onSecond()).status === 401 ? true : null,
  );
  assert.ok(performance.now() - revokedAt < 5_000);
  assert.equal((await onSecond()).body.error.code, 'KEY_REVOKED');
});

test('a key works until it expires, and no longer, even if it is cached', async () => {
  const expiresAt = new Date(Date.now() + 2_500).toISOString();
  const made = await makeKey({ expiresAt });
  assert.equal(made.expiresAt, expiresAt);
  for (;;) {
    const sentAt = Date.now();
    const { status, body } = await reads(made.key);
    const answeredAt = Date.now();
    const expiry = Date.parse(expiresAt);
    // A clock difference of a few milliseconds between two processes is not a failure.
    if (answeredAt < expiry - 20) assert.equal(status, 200);
    if (sentAt > expiry + 20) {
      assert.equal(status, 401);
      assert.equal(body.error.code, 'KEY_EXPIRED');
      break;
    }
    await pause(20, 'fifty looks a second');
  }
});

test('invalid keys are rejected: past expiry, no name, other types', async () => {
  const refused: [object, string][] = [
    [{ type: 'secret', name: 'a', expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    [{ type: 'secret', name: '' }, 'name'],
    [{ type: 'secret', name: 'a'.repeat(201) }, 'name'],
    [{ type: 'admin', name: 'a' }, 'type'],
    [{ name: 'a' }, 'type'],
    [{ type: 'secret' }, 'name'],
    [{ type: 'secret', name: 'a', expiresAt: 'soon' }, 'expiresAt'],
  ];
  for (const [body, path] of refused) {
    const reply = await service.call('POST', '/v1/keys', { body });
    assert.equal(reply.status, 400, JSON.stringify(body));
    assert.equal(reply.body.error.code, 'VALIDATION_ERROR');
    assert.equal(reply.body.error.details[0].path, path);
  }
});

test('the last working secret key stays, even with two simultaneous requests', async () => {
  const own = await createOrganization(service, 'Two keys');
  const listed = await service.call('GET', '/v1/keys', { key: own.secretKey });
  const first = listed.body.data.find((key: { type: string }) => key.type === 'secret');
  const expiring = await makeKey(
    { expiresAt: new Date(Date.now() + 1_500).toISOString() },
    own.secretKey,
  );
  await untilAfter(expiring.expiresAt);
  const alone = await service.call('DELETE', `/v1/keys/${first.id}`, { key: own.secretKey });
  assert.equal(alone.status, 409, 'an expired key and publishable keys do not count');
  assert.equal(alone.body.error.code, 'CONFLICT');
  assert.equal((await reads(own.secretKey)).status, 200);
  for (let round = 0; round < 5; round += 1) {
    const by = await currentSecret(own);
    const other = await makeKey({}, by.key);
    const replies = await Promise.all(
      [by.id, other.id].map((id) => service.call('DELETE', `/v1/keys/${id}`, { key: by.key })),
    );
    const refused = replies.filter(({ status }) => status !== 200).map(({ status }) => status);
    assert.equal(refused.length, 1, `refused: ${refused.join()}`);
    own.secretKey = replies[0]?.status === 200 ? other.key : by.key;
  }
  assert.equal((await reads(own.secretKey)).status, 200);
  assert.ok(expiring.id);
});

test('the last secret key without scopes stays, however many keys with scopes there are', async () => {
  const own = await createOrganization(service, 'One full key');
  const { id } = await currentSecret(own);
  const make = (fields: NewKey) => makeKey(fields, own.secretKey);
  const reader = await make({ scopes: ['content:read', 'keys:write'] });
  const spare = await make({ expiresAt: new Date(Date.now() + 1_500).toISOString() });
  const revoke = (key: string, by = own.secretKey) =>
    service.call('DELETE', `/v1/keys/${key}`, { key: by });
  await eventually('the spare key to expire', async () =>
    (await reads(spare.key)).status === 401 ? true : null,
  );
  const refused = await revoke(id);
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'CONFLICT']);
  assert.match(refused.body.error.message, /last active secret key without scopes/);
  assert.equal((await reads(own.secretKey)).status, 200);
  for (let round = 0; round < 5; round += 1) {
    const by = await currentSecret(own);
    const other = await make({});
    const replies = await Promise.all([by.id, other.id].map((key) => revoke(key, by.key)));
    assert.equal(replies.filter(({ status }) => status === 200).length, 1);
    own.secretKey = replies[0]?.status === 200 ? other.key : by.key;
  }
  const rotated = await service.call('POST', `/v1/keys/${(await currentSecret(own)).id}/rotate`, {
    key: own.secretKey,
    body: { gracePeriod: 0 },
  });
  assert.equal((await reads(rotated.body.data.key)).status, 200);
  assert.equal((await revoke(rotated.body.data.id, rotated.body.data.key)).status, 409);
  assert.equal((await revoke(reader.id, rotated.body.data.key)).status, 200);
});

/** The organization's active secret key and its id. */
async function currentSecret(own: { secretKey: string }) {
  const { body } = await service.call('GET', '/v1/keys?limit=100', { key: own.secretKey });
  const found = body.data.find(
    (key: { prefix: string; revokedAt: string | null }) =>
      key.revokedAt === null && own.secretKey.startsWith(key.prefix),
  );
  return { id: String(found.id), key: own.secretKey };
}

test("another organization's keys are unknown: not listed, not revoked", async () => {
  const other = await createOrganization(service, 'Elsewhere');
  const { body } = await service.call('GET', '/v1/keys', { key: other.secretKey });
  assert.equal(body.meta.total, 2);
  for (const { id } of body.data) {
    const foreign = await service.call('DELETE', `/v1/keys/${id}`);
    const unknown = await service.call('DELETE', `/v1/keys/key_01m7xhwqtmfez904n27vhppr08`);
    assert.equal(foreign.status, 404);
    assert.deepEqual(foreign.body.error, unknown.body.error);
  }
  assert.equal((await service.call('GET', '/v1/keys', { key: other.secretKey })).status, 200);
});

test('keys are listed newest first, page by page, and their use is recorded', async () => {
  const own = await createOrganization(service, 'Many keys');
  const made = await makeKey({ type: 'publishable' }, own.secretKey);
  for (let index = 0; index < 7; index += 1) await makeKey({ name: `Key ${index}` }, own.secretKey);
  const ids: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const target: string = `/v1/keys?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const { body } = await service.call('GET', target, { key: own.secretKey });
    assert.equal(body.meta.total, 10);
    ids.push(...body.data.map((key: { id: string }) => key.id));
    cursor = body.meta.nextCursor;
  }
  assert.equal(new Set(ids).size, 10);
  assert.equal(ids[7], made.id, 'the first eight made are the last of the list');
  assert.equal((await service.call('GET', '/v1/feed', { key: made.key })).status, 200);
  await eventually('the use to be written down', async () => {
    const { body } = await service.call('GET', '/v1/keys?limit=100', { key: own.secretKey });
    const found = body.data.find((key: { id: string }) => key.id === made.id);
    return found.lastUsedAt;
  });
});

test('an organization can be read and changed only with its own keys', async () => {
  const own = await createOrganization(service, 'First name');
  const { body } = await service.call('GET', '/v1/organization', { key: own.secretKey });
  assert.deepEqual(
    { ...body.data, id: '' },
    {
      id: '',
      name: 'First name',
      autoPublish: true,
      defaultProtected: false,
      earlyPlayback: false,
      requireSignedViewers: false,
      allowedOrigins: [],
      timeZone: 'UTC',
    },
  );
  assert.match(body.data.id, /^org_/);
  const change = { name: 'Second name', autoPublish: false, defaultProtected: true };
  const changed = await service.call('PATCH', '/v1/organization', {
    key: own.secretKey,
    body: change,
  });
  assert.deepEqual(changed.body.data, { ...body.data, ...change });
  const others = await reads(service.secretKey);
  assert.notEqual(others.body.data.name, 'Second name');
  for (const wrong of [{}, { name: '' }, { name: null }, { autoPublish: 'true' }, { id: 'a' }]) {
    const reply = await service.call('PATCH', '/v1/organization', { body: wrong });
    assert.equal(reply.status, 400, JSON.stringify(wrong));
  }
});
