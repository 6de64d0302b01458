/** Fifty restarts behind a default load balancer, which probes every two seconds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restartInTurn } from './restarts.ts';

test('fifty restarts of three processes, with the default delay, fail no request', async (t) => {
  const options = { processes: 3, restarts: 50, probeIntervalMs: 2_000 };
  const { answered, failures } = await restartInTurn(options);
  t.diagnostic(`${answered} requests, ${failures.length} failed`);
  assert.deepEqual(failures, []);
  assert.ok(answered > 2_000, `${answered} requests`);
});
