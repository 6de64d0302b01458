/**
 * Proves that a database failure during a report costs only that report, not the process: lock
 * timeouts, a killed PostgreSQL and a frozen one.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectTo, startInstance, stopInstance } from './killable-service.ts';
import { serviceProcesses } from './process-tree.ts';
import { scaled } from './scale.ts';
import { eventually, send, temporaryFolder } from './service.ts';

const rounds = scaled(2, 20);
const instance = await startInstance(await temporaryFolder());
const overview = () => instance.call('GET', '/v1/analytics/overview').then(({ status }) => status);

/** Starts overviews that wait for a lock. */
async function holdOverviews(count = 2) {
  const client = await connectTo(instance);
  await client.query('begin; lock table viewer_set in access exclusive mode');
  const answers = Promise.all(Array.from({ length: count }, overview));
  await eventually('the statements to wait', async () => {
    const { rows } = await client.query<{ n: number }>(
      `select count(*)::int as n from pg_locks where not granted and relation = 'viewer_set'::regclass`,
    );
    return (rows[0]?.n ?? 0) >= 2 * count ? true : null;
  });
  return { client, answers };
}

async function postmaster(): Promise<number> {
  return eventually('the database to run', async () => {
    const { postmaster: pid } = await serviceProcesses(instance.process.pid, instance.dataDir);
    return pid;
  });
}

async function isWell(): Promise<void> {
  await eventually('the service to recover', async () =>
    (await overview()) === 200 ? true : null,
  );
  assert.equal(instance.process.child.exitCode, null);
  const { text } = await send(`${instance.url}/metrics`, 'GET');
  assert.match(text, /^process_uncaught_errors_total 0$/m);
}

test(`${rounds} lock time-outs during the overview`, async () => {
  const atOnce = 2;
  for (let round = 0; round < rounds; round += atOnce) {
    const { client, answers } = await holdOverviews(atOnce);
    assert.deepEqual(await answers, [503, 503]);
    await client.query('rollback');
    await client.end();
  }
  await isWell();
});

test(`${rounds} kills of PostgreSQL during the overview`, async () => {
  for (let round = 0; round < rounds; round += 1) {
    const { answers } = await holdOverviews();
    process.kill(await postmaster(), 'SIGKILL');
    for (const status of await answers) assert.ok([200, 503].includes(status), String(status));
    await isWell();
  }
});

test(`PostgreSQL is frozen ${rounds} times during the overview`, async () => {
  for (let round = 0; round < rounds; round += 1) {
    const { client, answers } = await holdOverviews();
    const { all } = await serviceProcesses(instance.process.pid, instance.dataDir);
    const frozen = all.filter((pid) => pid !== instance.process.pid);
    for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    assert.deepEqual(await answers, [503, 503]);
    for (const pid of frozen) process.kill(pid, 'SIGCONT');
    await client.end();
    await isWell();
  }
  await stopInstance(instance);
});
