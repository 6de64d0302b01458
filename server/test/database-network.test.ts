/**
 * Proves that a database that freezes, refuses connections, fails over or silently drops
 * connections does no lasting damage to a process: requests get a 503 in time and work again soon
 * afterwards.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cloneDatabase } from './database.ts';
import { putNetworkBefore } from './faulty-network.ts';
import { createItem } from './seed.ts';
import { eventually, startService } from './service.ts';
import { pause } from './waiting.ts';

const direct = await cloneDatabase();
const network = await putNetworkBefore(direct);
const service = await startService({}, { connection: network.connection });

const routes: [method: string, path: string, body?: object][] = [
  ['GET', '/v1/content'],
  ['GET', '/v1/keys'],
  ['GET', '/v1/organization'],
  ['POST', '/v1/content/upload', { title: 'x' }],
  ['GET', '/v1/analytics/overview'],
  ['GET', '/v1/webhooks'],
];

/** The server's own statement limit is 30 s; the response must come earlier. */
const limitMs = 20_000;
const recoveryMs = 5_000;

async function callAll() {
  return Promise.all(
    routes.map(async ([method, path, body]) => {
      const startedAt = performance.now();
      const { status } = await service.call(method, path, body === undefined ? {} : { body });
      return { path, status, ms: performance.now() - startedAt };
    }),
  );
}

async function worksAgain(): Promise<number> {
  const startedAt = performance.now();
  await eventually('every route to work', async () =>
    (await callAll()).every(({ status }) => status < 300) ? true : null,
  );
  return performance.now() - startedAt;
}

/** Opens as many connections as the pool allows, so that each of them is affected. */
async function warmUp(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    for (const { status, path } of await callAll()) assert.ok(status < 300, path);
  }
}

test('silently dropped connections are discarded, and requests work again', async () => {
  await warmUp();
  const item = await createItem(service, { title: 'Before' });
  network.forgetConnections();
  const startedAt = performance.now();
  const first = await callAll();
  for (const { status, path } of first)
    assert.ok(status === 503 || status < 300, `${path} ${status}`);
  for (const { ms, path } of first) assert.ok(ms < limitMs, `${path} took ${ms} ms`);
  const again = await worksAgain();
  const sinceFault = performance.now() - startedAt;
  assert.ok(again < recoveryMs, `it took ${again} ms after ${sinceFault} ms`);
  const found = await service.call('GET', `/v1/content/${item.id}`);
  assert.equal(found.body.data.title, 'Before');
});

test('a frozen database: every route responds 503 in time, and works once it thaws', async () => {
  await warmUp();
  network.freeze();
  const during = await callAll();
  for (const { status, ms, path } of during) {
    assert.equal(status, 503, path);
    assert.ok(ms < limitMs, `${path} took ${ms} ms`);
  }
  const ready = await service.call('GET', '/readyz', { key: null });
  assert.equal(ready.status, 503);
  await network.heal();
  assert.ok((await worksAgain()) < recoveryMs);
});

test('a database that refuses connections, and one that fails over', async () => {
  await warmUp();
  await network.refuse();
  for (const { status, ms, path } of await callAll()) {
    assert.equal(status, 503, path);
    assert.ok(ms < limitMs, `${path} took ${ms} ms`);
  }
  await network.heal();
  assert.ok((await worksAgain()) < recoveryMs);
  network.cut();
  assert.ok((await worksAgain()) < recoveryMs);
});

test('a connection lost while the overview waits for several statements fails only that request', async () => {
  await warmUp();
  const { Client } = await import('pg');
  const { poolConnection } = await import('../src/platform/database/database.ts');
  const [holder, watcher] = [1, 2].map(() => new Client(poolConnection(direct)));
  assert.ok(holder !== undefined && watcher !== undefined);
  await holder.connect();
  await watcher.connect();
  await holder.query('begin; lock table viewer_set in access exclusive mode');
  const overview = service.call('GET', '/v1/analytics/overview');
  await eventually('the statements to wait for the lock', async () => {
    const { rows } = await watcher.query<{ n: number }>(
      `select count(*)::int as n from pg_locks where not granted and relation = 'viewer_set'::regclass`,
    );
    return (rows[0]?.n ?? 0) >= 2 ? true : null;
  });
  network.cut();
  assert.equal((await overview).status, 503);
  await holder.end();
  await watcher.end();
  assert.ok((await worksAgain()) < recoveryMs);
});

test('a slow statement is left alone', async () => {
  const { Client } = await import('pg');
  const { poolConnection } = await import('../src/platform/database/database.ts');
  const holder = new Client(poolConnection(service.connection));
  await holder.connect();
  await holder.query('begin');
  await holder.query('lock table webhook in access exclusive mode');
  const waiting = service.call('GET', '/v1/webhooks');
  await pause(8_500, 'longer than it takes to be suspected and asked about, twice');
  await holder.query('commit');
  await holder.end();
  assert.equal((await waiting).status, 200);
});
