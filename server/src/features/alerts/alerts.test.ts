import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { newUuid7 } from '../../platform/values/uuid7.ts';
import { openDatabase } from '../../platform/database/database.ts';
import { Hints } from '../../platform/hints/hints.ts';
import { atEnd, silentLog } from '../../../test/database.ts';
import { query } from '../../../test/seed.ts';
import { eventually } from '../../../test/service.ts';
import { makeItems, startReportService } from '../../../test/recount/reports.ts';
import { openEventLog, type LoggedEvent } from '../events/events.ts';
import { evaluateAlerts } from './evaluate.ts';

const hourMs = 3_600_000;
const weekMs = 168 * hourMs;
const service = await startReportService();
const [item] = makeItems(1);
const lastHour = Math.floor(Date.now() / hourMs) * hourMs;

/** Plays in the hour that ends at a given time, some of them on web. */
function plays(endMs: number, count: number): LoggedEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    eventId: newUuid7(),
    event: 'playStart',
    contentId: item?.id ?? '',
    userId: `viewer-${index}`,
    sessionId: `session-${endMs}-${index}`,
    at: endMs - hourMs + index * 1_000,
    device: index % 4 === 0 ? 'web' : 'ios',
    data: { startupTime: 200 },
  })) as unknown as LoggedEvent[];
}

before(async () => {
  await service.insertItems(item === undefined ? [] : [item]);
  const usual = [200, 204, 196, 202, 198];
  const weeks = usual.flatMap((count, week) => plays(lastHour - (week + 1) * weekMs, count));
  await service.append([...weeks, ...plays(lastHour, 40), ...plays(lastHour - hourMs, 5)], [400]);
  await service.projected();
});

const band = { type: 'band', direction: 'below' };
const rule = { report: 'overview', metric: 'plays', condition: band };
const create = (fields: object = {}) =>
  service.call('POST', '/v1/analytics/alerts', { body: { name: 'Plays', ...rule, ...fields } });
const makeDue = (id: string) =>
  query(
    service,
    `update alert set next_window = $2, due_at = now() - interval '1 day' where alert_id = $1`,
    [id, new Date(lastHour).toISOString()],
  );
const told = async (id: string) =>
  (
    await query(
      service,
      `select data::json->>'state' as state from webhook_event
       where kind = 'analytics.alert' and data::json->>'alertId' = $1 order by occurred_at`,
      [id],
    )
  ).map(({ state }) => state);

test('a rule is tested on past data before it is saved', async () => {
  const ask = (fields: object) =>
    service.call('POST', '/v1/analytics/alerts/test', { body: { ...rule, days: 7, ...fields } });
  const { status, body } = await ask({});
  assert.equal(status, 200);
  assert.equal(body.data.fired, 1);
  const [opening] = body.data.openings;
  assert.equal(opening.openedAt, new Date(lastHour).toISOString());
  assert.equal(opening.value, 40);
  assert.equal(opening.low, 180.9, 'nine tenths of the median of 200, 204, 196 and 202');
  const web = await ask({ filter: { device: 'web' }, minData: 20 });
  assert.equal(web.body.data.openings[0].value, 10);
  const startup = { report: 'quality', metric: 'startupTime.p95', minData: 5 };
  const threshold = { type: 'above', threshold: 100 };
  const slow = await ask({ ...startup, condition: threshold, filter: { device: 'ios' } });
  assert.ok(slow.body.data.fired >= 1);
  assert.equal((await service.call('GET', '/v1/analytics/alerts')).body.data.length, 0);
});

test('an alert opens once, however many processes evaluate it, and is resolved when deleted', async () => {
  const { status, body } = await create();
  assert.equal(status, 201);
  const { id } = body.data;
  assert.deepEqual([body.data.state, body.data.minData], ['unknown', 100]);
  await makeDue(id);
  const judging = Array.from({ length: 6 }, async () => {
    const { connection, url: publicUrl } = service;
    const database = openDatabase({ connection, poolSize: 2, log: silentLog });
    atEnd(() => database[Symbol.asyncDispose]());
    const { db } = database;
    const parts = { db, eventLog: openEventLog(db), log: silentLog, hints: new Hints(), publicUrl };
    await evaluateAlerts(parts, new AbortController().signal);
  });
  await Promise.all(judging);
  assert.deepEqual(await told(id), ['opened']);
  const shown = await service.call('GET', `/v1/analytics/alerts/${id}`);
  assert.equal(shown.body.data.state, 'firing');
  assert.equal(shown.body.data.last.value, 40);
  assert.equal(shown.body.data.openedAt, new Date(lastHour).toISOString());
  const events = await service.call('GET', `/v1/analytics/alerts/${id}/events?limit=1`);
  assert.equal(events.body.meta.total, 1);
  assert.equal(events.body.data[0].reason, 'breached');
  assert.equal((await service.call('DELETE', `/v1/analytics/alerts/${id}`)).status, 200);
  assert.deepEqual(await told(id), ['opened', 'resolved']);
});

test('the chore evaluates due alerts; a changed rule starts over', async () => {
  const { id } = (await create({ condition: { type: 'below', threshold: 50 } })).body.data;
  await makeDue(id);
  await eventually(
    'the alert to open',
    async () => ((await told(id)).length > 0 ? true : null),
    60_000,
  );
  const path = `/v1/analytics/alerts/${id}`;
  const renamed = await service.call('PATCH', path, { body: { name: 'Few plays' } });
  assert.equal(renamed.body.data.state, 'firing');
  const changed = await service.call('PATCH', path, { body: { minData: 7 } });
  assert.deepEqual([changed.body.data.state, changed.body.data.last], ['unknown', null]);
  assert.deepEqual(await told(id), ['opened', 'resolved']);
});

test('invalid rules are rejected with the field', async () => {
  const pathOf = async (fields: object) => {
    const { status, body } = await create(fields);
    return [status, body.error.details[0].path];
  };
  assert.deepEqual(await pathOf({ metric: 'errorRate' }), [400, 'metric']);
  assert.deepEqual(
    await pathOf({ report: 'engagement', metric: 'sessions', filter: { tag: 'a' } }),
    [400, 'filter'],
  );
  assert.equal(
    (await create({ filter: { country: 'XX' } })).body.error.details[0].path,
    'filter.country',
  );
  assert.equal((await create({ condition: { type: 'above' } })).status, 400);
  const other = await service.addOrganization('Others');
  const { id } = (await create()).body.data;
  const path = `/v1/analytics/alerts/${id}`;
  const foreign = await service.call('GET', path, { key: other.secretKey });
  assert.equal(foreign.status, 404);
});
