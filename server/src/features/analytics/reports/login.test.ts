/**
 * Proves that a login in the middle of a visit does not split the session: live, late and rebuilt.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { inTransaction, openDatabase } from '../../../platform/database/database.ts';
import { rebuildProjection } from '../../../platform/projections/rebuild.ts';
import { dayMs } from '../../../platform/values/time.ts';
import { silentLog } from '../../../../test/database.ts';
import { query } from '../../../../test/seed.ts';
import { openEventLog, type LoggedEvent } from '../../events/events.ts';
import { ownProjections } from '../projections/all-projections.ts';
import { forgetSessionsOf } from '../projections/engagement/session-devices.ts';
import { FilteredRecount } from '../../../../test/recount/recount-filtered.ts';
import { Recount, type Range } from '../../../../test/recount/recount.ts';
import { makeItems, startReportService } from '../../../../test/recount/reports.ts';
import { createRandom, makeTraffic, shuffled } from '../../../../test/recount/traffic.ts';

const today = Math.floor(Date.now() / dayMs) * dayMs;
const dayOf = (daysAgo: number) => new Date(today - daysAgo * dayMs).toISOString().slice(0, 10);
const range: Range = { startDate: dayOf(5), endDate: dayOf(1) };
const hourly: Range = { ...range, granularity: 'hour' };

/** Half of the users' sessions begin before the login; in some, another user continues. */
function withLogins(events: readonly LoggedEvent[]): LoggedEvent[] {
  const random = createRandom(3);
  const sessions = Map.groupBy(events, ({ sessionId, userId }) => `${userId} ${sessionId}`);
  return [...sessions.values()].flatMap((own) => {
    const loginAt = random() < 0.5 ? Math.floor(random() * own.length) : 0;
    const otherAt = random() < 0.1 ? Math.floor(random() * own.length) : own.length;
    return own.map((event, index) => {
      if (event.userId === undefined || event.deviceId === undefined) return event;
      const { userId, ...anonymous } = event;
      if (index < loginAt) return anonymous;
      return { ...event, userId: index < otherAt ? userId : `${userId}-other` };
    });
  });
}

const items = makeItems(6, () => ['all']);
const events = withLogins(
  makeTraffic({
    seed: 11,
    contentIds: items.map(({ id }) => id),
    startMs: today - 5 * dayMs,
    endMs: today - dayMs,
    viewers: 120,
    sessions: 260,
  }),
);
const recount = new Recount(events, items);
const filtered = new FilteredRecount(events, items);
const service = await startReportService();

const sessionMetrics = [
  'sessions',
  'averageSessionLength',
  'averageVideosPerSession',
  'averageWatchTimePerSession',
] as const;
type Row = Record<string, unknown>;
const sessionsOf = (row: Row) =>
  Object.fromEntries(sessionMetrics.map((name) => [name, row[name]]));
type Engagement = { summary: Row; timeseries: Row[]; segments: Row[] };
type Broken = { rows: { values: Row; metrics: Row }[] };

async function compare(): Promise<void> {
  for (const asked of [range, hourly]) {
    const expected = recount.engagement(asked, 'device') as unknown as Engagement;
    const found = (await service.read('engagement', { ...asked })) as Engagement;
    assert.deepEqual(found.summary, expected.summary);
    assert.deepEqual(found.timeseries, expected.timeseries);
    const bySegment = (rows: readonly Row[]) =>
      Object.fromEntries(rows.map((row) => [String(row['segment']), sessionsOf(row)]));
    assert.deepEqual(bySegment(found.segments), bySegment(expected.segments));
  }
  const filter = { entryPoint: 'search' };
  const searched = (await service.read('engagement', { ...range, ...filter })) as Engagement;
  const expected = filtered.engagement(filter, range, 'device') as unknown as Engagement;
  assert.deepEqual(sessionsOf(searched.summary), sessionsOf(expected.summary));
  const asked = { ...range, breakdown: 'entryPoint,appVersion', top: '50' };
  const broken = (await service.read('engagement', asked)) as { breakdown: Broken };
  const dimensions = ['entryPoint', 'appVersion'];
  const wanted = { report: 'engagement' as const, dimensions, top: 50, variantOf: () => null };
  const recounted = filtered.breakdown(wanted, {}, range) as unknown as Broken;
  const byValues = ({ rows }: Broken) =>
    Object.fromEntries(
      rows.map(({ values, metrics }) => [JSON.stringify(values), sessionsOf(metrics)]),
    );
  assert.deepEqual(byValues(broken.breakdown), byValues(recounted));
}

describe('sessions with logins match the recount', () => {
  before(async () => {
    assert.ok(events.some(({ userId }) => userId?.endsWith('-other') === true));
    await service.insertItems(items);
    // Late and out of order, so that a login arrives before the events it continues.
    await service.append(shuffled(events, 7), [300, 20, 700]);
    await service.projected();
  });

  test('counted live', compare);

  test('after a rebuild', async () => {
    await using database = openDatabase({
      connection: service.connection,
      poolSize: 4,
      log: silentLog,
    });
    const { db } = database;
    const { signal } = new AbortController();
    for (const projection of ownProjections) {
      await rebuildProjection(projection, { db, eventLog: openEventLog(db), signal });
    }
    await service.projected();
    await compare();
  });

  test('the sessions of an erased user are forgotten', async () => {
    await using database = openDatabase({
      connection: service.connection,
      poolSize: 2,
      log: silentLog,
    });
    const [pair] = await query(service, 'select user_key from session_device limit 1');
    const user = pair?.['user_key'] as Buffer;
    const removed = await inTransaction(database.db, (tx) => forgetSessionsOf(tx, user));
    assert.ok(removed > 0);
    const left = await query(
      service,
      `select 1 from session_device where user_key = $1
       union all select 1 from session_state_a where position($1::bytea in state) > 0
       union all select 1 from session_state_b where position($1::bytea in state) > 0`,
      [user],
    );
    assert.deepEqual(left, []);
  });
});
