/** Proves that each day gets exactly one export, even with concurrent runs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atEnd, silentLog } from '../../../../test/database.ts';
import { createOrganization, query } from '../../../../test/seed.ts';
import { startService } from '../../../../test/service.ts';
import { openDatabase } from '../../../platform/database/database.ts';
import { dayMs } from '../../../platform/values/time.ts';
import { runSchedules } from './schedules.ts';

// Without a worker, only the tests run schedules.
const service = await startService({ REELFEED_ROLES: 'api' });
const database = openDatabase({ connection: service.connection, poolSize: 6, log: silentLog });
atEnd(() => database[Symbol.asyncDispose]());
const { db } = database;
const { signal } = new AbortController();
const day = (daysAgo: number) => new Date(Date.now() - daysAgo * dayMs).toISOString().slice(0, 10);
const body = { dataset: 'events', format: 'csv', compression: 'zstd', filter: { device: 'ios' } };

async function schedule(fields: object, key = service.secretKey): Promise<string> {
  const made = await service.call('POST', '/v1/exports/schedules', {
    body: { ...body, ...fields },
    key,
  });
  assert.equal(made.status, 201, made.text);
  return made.body.data.id;
}

const run = () => runSchedules(db, () => undefined, signal);

async function exportsOf(scheduleId: string, key = service.secretKey) {
  const { body: found } = await service.call('GET', '/v1/exports?limit=100', { key });
  return (found.data as Record<string, unknown>[]).filter(
    (one) => one['scheduleId'] === scheduleId,
  );
}

test('each completed day gets one export, even if the service was down', async () => {
  const id = await schedule({ startDate: day(3), delayHours: 0 });
  await Promise.all([run(), run(), run()]);
  const made = await exportsOf(id);
  assert.deepEqual(
    made.map(({ startDate, endDate }) => [startDate, endDate]).toSorted(),
    [3, 2, 1].map((daysAgo) => [day(daysAgo), day(daysAgo)]),
  );
  for (const { dataset, format, compression, filter } of made) {
    assert.deepEqual({ dataset, format, compression, filter }, body);
  }
  const { body: listed } = await service.call('GET', '/v1/exports/schedules');
  assert.equal(listed.data.find((one: { id: string }) => one.id === id).nextDate, day(0));
  await run();
  assert.equal((await exportsOf(id)).length, 3);
  assert.equal((await service.call('DELETE', `/v1/exports/schedules/${id}`)).status, 200);
  assert.equal((await service.call('DELETE', `/v1/exports/schedules/${id}`)).status, 404);
  assert.equal((await exportsOf(id)).length, 3, 'its exports are kept');
});

test("a day is over by the organization's clock, after the delay", async () => {
  const { secretKey: key } = await createOrganization(service, 'Far away');
  const late = await schedule({ startDate: day(1), delayHours: 48 }, key);
  // In that zone it is already tomorrow, or the day is about to end, so yesterday in UTC is over in
  // any case.
  const change = { body: { timeZone: 'Pacific/Kiritimati' }, key };
  assert.equal((await service.call('PATCH', '/v1/organization', change)).status, 200);
  const prompt = await schedule({ startDate: day(1), delayHours: 0 }, key);
  await run();
  assert.equal((await exportsOf(late, key)).length, 0);
  const [first] = await exportsOf(prompt, key);
  assert.equal(first?.['timeZone'], 'Pacific/Kiritimati');
});

test('the next days wait while ten exports are unfinished, and other organizations continue', async () => {
  const { secretKey: key } = await createOrganization(service, 'Busy');
  const { secretKey: other } = await createOrganization(service, 'Patient');
  const busy = await schedule({ startDate: day(14), delayHours: 0 }, key);
  const patient = await schedule({ startDate: day(2), delayHours: 0 }, other);
  await run();
  assert.equal((await exportsOf(busy, key)).length, 10);
  assert.equal((await exportsOf(patient, other)).length, 2);
  await query(service, `update data_export set status = 'failed' where schedule_id = $1`, [busy]);
  await run();
  assert.equal((await exportsOf(busy, key)).length, 14);
});

test('an invalid schedule is rejected', async () => {
  const wrong: [object, string][] = [
    [{ delayHours: 49 }, 'delayHours'],
    [{ startDate: '2001-01-01' }, 'startDate'],
    [{ startDate: 'today' }, 'startDate'],
    [{ dataset: 'webhooks' }, 'filter.device'],
  ];
  for (const [fields, path] of wrong) {
    const answer = await service.call('POST', '/v1/exports/schedules', {
      body: { ...body, ...fields },
    });
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.body.error.details[0].path, new RegExp(path));
  }
  const { secretKey: key } = await createOrganization(service, 'Many');
  for (let made = 0; made < 20; made += 1) await schedule({}, key);
  const beyond = await service.call('POST', '/v1/exports/schedules', { body, key });
  assert.equal(beyond.body.error.code, 'LIMIT_EXCEEDED');
});
