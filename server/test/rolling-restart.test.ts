/** Proves that restarting one process after another behind a load balancer fails no request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateKey } from '../src/features/keys/key-format.ts';
import { startBalancer } from './balancer.ts';
import { cloneDatabase } from './database.ts';
import { ready, startMain } from './processes.ts';
import { eventually, send, temporaryFolder, toUrl } from './service.ts';

const probeIntervalMs = 500;

test('three processes are restarted in turn, and every request is answered', async () => {
  const key = generateKey('secret');
  const env = {
    PORT: '0',
    DATABASE_URL: toUrl(await cloneDatabase()),
    REELFEED_DATA_DIR: await temporaryFolder(),
    REELFEED_SECRET_KEY: key,
    REELFEED_MIN_FREE_BYTES: '0',
    REELFEED_LOG_LEVEL: 'error',
    REELFEED_ROLES: 'api',
    REELFEED_DRAIN_DELAY: '4s',
  };
  await using balancer = await startBalancer(probeIntervalMs);
  const startOne = async () => {
    const running = startMain({ env });
    balancer.add(await ready(running));
    return running;
  };
  const processes = [await startOne(), await startOne(), await startOne()];
  await eventually('all to be healthy', async () => (balancer.healthy() === 3 ? true : null));

  const failures: string[] = [];
  let answered = 0;
  let over = false;
  const clients = Array.from({ length: 4 }, async (_, client) => {
    for (let turn = 0; !over; turn += 1) {
      const isWrite = turn % 4 === 0;
      const reply = isWrite
        ? await send(`${balancer.url}/v1/content/upload`, 'POST', { key, body: { title: 'x' } })
        : await send(`${balancer.url}/v1/content?limit=1`, 'GET', { key });
      answered += 1;
      if (reply.status >= 300) failures.push(`client ${client}: ${reply.status} ${reply.text}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  for (const [place, old] of processes.entries()) {
    old.child.kill('SIGTERM');
    const { code, stderr } = await old.ended;
    assert.deepEqual([code, stderr], [0, '']);
    processes[place] = await startOne();
    await eventually('the new one to be healthy', async () =>
      balancer.healthy() === 3 ? true : null,
    );
  }
  over = true;
  await Promise.all(clients);
  assert.deepEqual(failures, []);
  assert.ok(answered > 50, `${answered} requests`);
});

test('without a setting, a process drains while it has others beside it, and at once when alone', async () => {
  const env = {
    PORT: '0',
    DATABASE_URL: toUrl(await cloneDatabase()),
    REELFEED_DATA_DIR: await temporaryFolder(),
    REELFEED_SECRET_KEY: generateKey('secret'),
    REELFEED_MIN_FREE_BYTES: '0',
    REELFEED_LOG_LEVEL: 'error',
    REELFEED_ROLES: 'api',
  };
  const [one, other] = [startMain({ env }), startMain({ env })];
  const url = await ready(one);
  await ready(other);
  const toldAt = performance.now();
  one.child.kill('SIGTERM');
  const state = await eventually('the process to be draining', async () => {
    const { status, body } = await send(`${url}/readyz`, 'GET');
    return status === 503 ? body.checks : null;
  });
  assert.equal(state.draining, 'the process is shutting down');
  const served = await send(`${url}/v1/feed`, 'GET');
  assert.deepEqual([served.status, served.headers.get('connection')], [401, 'close']);
  await one.ended;
  assert.ok(performance.now() - toldAt >= 10_000);
  const lastAt = performance.now();
  other.child.kill('SIGTERM');
  await other.ended;
  assert.ok(performance.now() - lastAt < 10_000, 'nobody is left to take over');
});
