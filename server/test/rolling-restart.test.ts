/** Proves that a rolling restart behind a load balancer fails no request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateKey } from '../src/features/keys/key-format.ts';
import { cloneDatabase } from './database.ts';
import { ready, startMain } from './processes.ts';
import { restartInTurn } from './restarts.ts';
import { eventually, send, temporaryFolder, toUrl } from './service.ts';

test('three processes are restarted in turn, and every request succeeds', async () => {
  const options = { processes: 3, restarts: 3, probeIntervalMs: 500, drainDelay: '4s' };
  const { answered, failures } = await restartInTurn(options);
  assert.deepEqual(failures, []);
  assert.ok(answered > 50, `${answered} requests`);
});

test('without a setting, a process drains if it has others beside it, and stops immediately when alone', async () => {
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
