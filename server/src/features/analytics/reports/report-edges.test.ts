/** Proves reports in edge cases: day boundaries, several organizations, deleted items, no data. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { query } from '../../../../test/seed.ts';
import { eventually } from '../../../../test/service.ts';
import type { EventKind, LoggedEvent } from '../../events/events.ts';
import {
  makeItems,
  startReportService,
  type ReportOrganization,
} from '../../../../test/recount/reports.ts';
import { dayMs } from '../../../platform/values/time.ts';

const service = await startReportService();

function event(
  kind: EventKind,
  contentId: string,
  at: string,
  fields: Partial<LoggedEvent> = {},
): LoggedEvent {
  return {
    eventId: randomUUID(),
    event: kind,
    contentId,
    at: Date.parse(at),
    userId: 'ada',
    sessionId: 'one',
    data: {},
    ...fields,
  };
}

/** A separate organization with some items and these events, already projected. */
async function withEvents(
  name: string,
  itemCount: number,
  make: (ids: string[]) => LoggedEvent[],
): Promise<ReportOrganization & { ids: string[] }> {
  const organization = await service.addOrganization(name);
  const items = makeItems(itemCount, () => ['tagged']);
  await organization.insertItems(items);
  const ids = items.map(({ id }) => id);
  await organization.append(make(ids));
  await service.projected();
  return { ...organization, ids };
}

type Points = { summary: Record<string, number>; timeseries: ({ date: string } & Numbers)[] };
type Numbers = Record<string, number | null>;
const read = async (from: ReportOrganization, path: string, params: Record<string, string>) =>
  (await from.read(path, params)) as Points;

describe('time', () => {
  test('days begin and end at midnight UTC, to the millisecond', async () => {
    const own = await withEvents('Days', 1, ([id = '']) => [
      event('like', id, '2026-03-01T23:59:59.999Z'),
      event('like', id, '2026-03-02T00:00:00.000Z'),
      event('like', id, '2026-03-02T23:59:59.999Z'),
      event('like', id, '2026-03-03T00:00:00.000Z'),
    ]);
    const likes = async (startDate: string, endDate: string) => {
      const { summary, timeseries } = await read(own, 'overview', { startDate, endDate });
      return [summary['likes'], ...timeseries.map((point) => point['likes'])];
    };
    assert.deepEqual(await likes('2026-03-02', '2026-03-02'), [2, 2]);
    assert.deepEqual(await likes('2026-03-01', '2026-03-03'), [4, 1, 2, 1]);
    assert.deepEqual(await likes('2026-02-28', '2026-03-01'), [1, 0, 1]);
  });

  test('weeks begin on Monday, also across the end of a year', async () => {
    // 2025-12-29 and 2026-01-05 are Mondays.
    const own = await withEvents('Weeks', 1, ([id = '']) => [
      event('save', id, '2025-12-28T23:59:59.999Z'),
      event('save', id, '2025-12-29T00:00:00.000Z'),
      event('save', id, '2026-01-04T23:59:59.999Z'),
      event('save', id, '2026-01-05T00:00:00.000Z'),
    ]);
    const { timeseries } = await read(own, 'overview', {
      startDate: '2025-12-27',
      endDate: '2026-01-05',
      granularity: 'week',
    });
    assert.deepEqual(
      timeseries.map(({ date, saves }) => [date, saves]),
      [
        ['2025-12-22', 1],
        ['2025-12-29', 2],
        ['2026-01-05', 1],
      ],
    );
  });

  test('an hour contains its events and the views that began in it', async () => {
    const day = new Date(Date.now() - 5 * dayMs).toISOString().slice(0, 10);
    const own = await withEvents('Hours', 1, ([id = '']) => [
      event('impression', id, `${day}T10:59:59.999Z`, { data: { position: 0 } }),
      event('playStart', id, `${day}T11:00:00.000Z`, { data: { startupTime: 100 } }),
      event('completion', id, `${day}T11:00:09.000Z`, { data: { watchTime: 9, looped: false } }),
    ]);
    const { timeseries, summary } = await read(own, 'overview', {
      startDate: day,
      endDate: day,
      granularity: 'hour',
    });
    assert.equal(timeseries.length, 24);
    const [ten, eleven] = timeseries.slice(10, 12);
    assert.equal(ten?.date, `${day}T10:00:00.000Z`);
    assert.deepEqual([ten?.['impressions'], ten?.['plays']], [1, 0]);
    assert.deepEqual([ten?.['totalWatchTime'], ten?.['sessions']], [9, 1]);
    assert.equal(ten?.['completionRate'], null, 'without plays there are no rates');
    assert.deepEqual([eleven?.['plays'], eleven?.['completions']], [1, 1]);
    assert.deepEqual([ten?.['uniqueViewers'], eleven?.['uniqueViewers']], [0, 1]);
    assert.deepEqual([summary['completionRate'], summary['averageWatchTime']], [1, 9]);
  });

  test('the previous period has the same length and shares no event', async () => {
    const own = await withEvents('Comparison', 1, ([id = '']) => [
      event('like', id, '2026-03-07T23:59:59.999Z'),
      event('like', id, '2026-03-08T00:00:00.000Z'),
      event('like', id, '2026-03-09T23:59:59.999Z'),
      event('like', id, '2026-03-10T00:00:00.000Z'),
      event('like', id, '2026-03-11T23:59:59.999Z'),
      event('like', id, '2026-03-11T12:00:00.000Z'),
      event('share', id, '2026-03-11T12:00:00.000Z', { data: { platform: 'a' } }),
    ]);
    const { comparison } = (await own.read('overview', {
      startDate: '2026-03-10',
      endDate: '2026-03-11',
    })) as { comparison: Record<string, unknown> };
    assert.deepEqual(comparison['likes'], { change: 0.5, direction: 'up' });
    assert.deepEqual(comparison['shares'], { change: null, direction: 'up' });
    assert.deepEqual(comparison['saves'], { change: null, direction: 'flat' });
    assert.deepEqual(comparison['completionRate'], { change: null, direction: 'flat' });
  });
});

describe('a report without data', () => {
  const reports = ['overview', 'engagement', 'quality', 'retention'];

  test('has zeros and nulls, with a point for every bucket', async () => {
    const empty = await service.addOrganization('Empty');
    const week = { startDate: '2026-03-02', endDate: '2026-03-08' };
    for (const path of reports) {
      const { body, text } = await empty.ask(path, week);
      assert.doesNotMatch(text, /NaN|Infinity/, path);
      const { timeseries, cohorts } = body.data;
      assert.equal((timeseries ?? cohorts).length, 7, path);
      assert.equal((timeseries ?? cohorts)[6].date, '2026-03-08', path);
      for (const value of Object.values<unknown>(body.data.summary ?? {})) {
        if (typeof value !== 'object') assert.equal(value, 0, path);
      }
    }
    assert.deepEqual((await read(empty, 'overview', week)).summary, {
      impressions: 0,
      plays: 0,
      completions: 0,
      totalWatchTime: 0,
      averageWatchTime: null,
      completionRate: null,
      engagementRate: null,
      reactionsPerImpression: null,
      likes: 0,
      shares: 0,
      saves: 0,
      views: 0,
      engagedViews: 0,
      hookRate: null,
      swipeAwayRate: null,
      loopRate: null,
      replays: 0,
      averagePercentWatched: null,
      uniqueViewers: 0,
      reactingViewers: 0,
      sessions: 0,
    });
    const { body } = await empty.ask('content', week);
    assert.deepEqual([body.data, body.meta.total, body.meta.nextCursor], [[], 0, null]);
  });

  test('for an item has zeros too, and no drop-off', async () => {
    const own = await withEvents('One item', 1, () => []);
    const item = (await own.read(`content/${own.ids[0]}`)) as Points & Record<string, unknown>;
    assert.equal(item.timeseries.length, 30);
    assert.equal(item.summary['plays'], 0);
    assert.deepEqual([item['devices'], item['countries']], [[], []]);
    assert.deepEqual(item['engagement'], {
      averagePercentWatched: null,
      dropoffPoints: [],
      watchedPoints: [],
    });
  });
});

test('the drop-off has a point for each step; completed views have reached the end', async () => {
  const at = '2026-03-02T12:00:00.000Z';
  const own = await withEvents('Drop-off', 1, ([id = '']) => {
    const watch = (userId: string, currentTime: number, duration: number) => [
      event('playStart', id, at, { userId, data: { startupTime: 100 } }),
      event('watchProgress', id, at, { userId, data: { currentTime, duration } }),
    ];
    const completed = { watchTime: 4, looped: false };
    return [
      ...watch('left after two seconds', 2.5, 4),
      ...watch('completed', 3, 4),
      event('completion', id, at, { userId: 'completed', data: completed }),
      ...watch('watched another length', 75, 100),
    ];
  });
  const item = (await own.read(`content/${own.ids[0]}`, {
    startDate: '2026-03-02',
    endDate: '2026-03-02',
  })) as { engagement: { averagePercentWatched: number; dropoffPoints: unknown[] } };
  const { averagePercentWatched, dropoffPoints } = item.engagement;
  assert.equal(averagePercentWatched, (0.625 + 1 + 0.75) / 3);
  assert.equal(dropoffPoints.length, 60 + 2, 'each second of the first minute, then 60 and 70');
  const retained = [1, 1, 1, 2 / 3, 2 / 3, 1 / 3];
  assert.deepEqual(
    dropoffPoints.slice(0, 6),
    retained.map((share, second) => ({ second, retained: share })),
  );
  assert.deepEqual(dropoffPoints.slice(-2), [
    { second: 60, retained: 1 / 3 },
    { second: 70, retained: 1 / 3 },
  ]);
});

describe('organizations and items', () => {
  const range = { startDate: '2026-03-02', endDate: '2026-03-03' };
  const at = '2026-03-02T12:00:00.000Z';
  const watch = (ids: string[]) =>
    ids.flatMap((id, index) => [
      event('playStart', id, at, { data: { startupTime: 100, rendition: '720p' } }),
      event('like', id, at, { userId: `user ${index}` }),
    ]);

  test('no report contains events of another organization', async () => {
    const [own, other] = [
      await withEvents('Own', 2, watch),
      await service.addOrganization('Other'),
    ];
    assert.equal((await read(own, 'overview', range)).summary['plays'], 2);
    for (const path of ['overview', 'engagement', 'quality', 'retention']) {
      const answer = JSON.stringify(await other.read(path, range));
      const empty = await service.addOrganization(`Empty beside ${path}`);
      assert.equal(answer, JSON.stringify(await empty.read(path, range)), path);
    }
    assert.deepEqual(await other.read('content', range), []);
    const foreign = await other.ask(`content/${own.ids[0]}`);
    const unknown = await other.ask('content/01890000-0000-7000-8000-000000000000');
    assert.equal(foreign.status, 404);
    assert.deepEqual(foreign.body.error, unknown.body.error);
  });

  test('archived items keep their statistics', async () => {
    const own = await withEvents('Archive', 2, watch);
    const [id] = own.ids;
    const archived = await service.call('DELETE', `/v1/content/${id}`, { key: own.secretKey });
    assert.equal(archived.status, 200);
    const { body } = await own.ask('content', range);
    assert.equal(body.meta.total, 2);
    assert.equal((await read(own, `content/${id}`, range)).summary['plays'], 1);
  });

  test('permanently deleted items are in no report by item, but still in the totals', async () => {
    const own = await withEvents('Deletion', 3, watch);
    const [id = '', ...kept] = own.ids;
    const before = await read(own, 'overview', range);
    const deleted = await service.call('POST', '/v1/content/bulk/delete', {
      key: own.secretKey,
      body: { ids: [id] },
    });
    assert.equal(deleted.body.data.totalSuccessful, 1);
    const check = async () => {
      assert.equal((await own.ask(`content/${id}`, range)).status, 404);
      const { body } = await own.ask('content', range);
      const ids = body.data.map((one: { contentId: string }) => one.contentId);
      assert.deepEqual(ids.toSorted(), kept.toSorted());
      assert.equal(body.meta.total, 2);
      const tags = (await own.read('engagement', { ...range, segment: 'tag' })) as {
        segments: Numbers[];
      };
      assert.equal(tags.segments[0]?.['plays'], 2);
      assert.deepEqual(await read(own, 'overview', range), before);
    };
    // Immediately, and again after the purge has removed the rows.
    await check();
    await eventually('the purge', async () => {
      const rows = await query(service, 'select from content_counter where content_id = $1', [id]);
      return rows.length === 0 ? true : null;
    });
    await check();
  });
});

test('unanswerable requests are rejected with the name of the parameter', async () => {
  const bad: [path: string, params: Record<string, string>, field: string][] = [
    ['overview', { startDate: '2026-02-30' }, 'query.startDate'],
    ['overview', { startDate: 'yesterday' }, 'query.startDate'],
    ['overview', { startDate: '2026-03-01T00:00:00Z' }, 'query.startDate'],
    ['overview', { endDate: '' }, 'query.endDate'],
    ['overview', { endDate: '2026-00-10' }, 'query.endDate'],
    ['content', { startDate: '2026-03-02', endDate: '2026-03-01' }, 'query.endDate'],
    ['quality', { startDate: '2025-01-01', endDate: '2026-01-02' }, 'query.endDate'],
    ['quality', { startDate: '2026-01-01', granularity: 'hour' }, 'query.granularity'],
    ['overview', { granularity: 'month' }, 'query.granularity'],
    ['overview', { granularity: 'Day' }, 'query.granularity'],
    ['engagement', { segment: 'author' }, 'query.segment'],
    ['overview', { country: 'ZZ' }, 'query.country'],
    ['audience', { country: 'D' }, 'query.country'],
    ['overview', { segment: 'device' }, 'query.segment'],
    ['content', { sort: 'popularity' }, 'query.sort'],
    ['content', { order: 'up' }, 'query.order'],
    ['content', { limit: '0' }, 'query.limit'],
    ['content', { limit: '101' }, 'query.limit'],
    ['content', { tags: '' }, 'query.tags'],
    ['retention', { endDate: '2026-01-01', startdate: '2026-01-01' }, 'query.startdate'],
  ];
  for (const [path, params, field] of bad) {
    const { status, body, text } = await service.ask(path, params);
    const what = `${path} ${JSON.stringify(params)}`;
    assert.equal(status, 400, `${what}: ${text}`);
    assert.equal(body.error.code, 'VALIDATION_ERROR', what);
    assert.equal(body.error.details[0].path, field, `${what}: ${text}`);
    if (field === 'query.startDate')
      assert.match(body.error.message, /must be a day such as/, what);
  }
  for (const id of ['a', '01890000-0000-4000-8000-000000000000', '%00', '..']) {
    assert.equal((await service.ask(`content/${id}`)).status, 404, id);
  }
  const cursor = await service.ask('content', { cursor: 'AAAA' });
  assert.equal(cursor.body.error.code, 'INVALID_CURSOR');
  const { status } = await service.call('GET', '/v1/analytics/overview', {
    key: service.publishableKey,
  });
  assert.equal(status, 403);
});

test('the audience of rolling days, with new and returning viewers', async () => {
  const own = await withEvents('Audience', 1, ([id = '']) => {
    const play = (userId: string, day: string) =>
      event('playStart', id, `${day}T12:00:00.000Z`, { userId, data: { startupTime: 1 } });
    return [
      play('ada', '2026-03-01'),
      play('bob', '2026-03-20'),
      play('ada', '2026-03-27'),
      play('cem', '2026-03-27'),
      play('ada', '2026-03-28'),
      event('like', id, '2026-03-28T13:00:00.000Z', { userId: 'only likes' }),
    ];
  });
  const days = { startDate: '2026-03-27', endDate: '2026-03-28' };
  assert.deepEqual(await own.read('audience', days), {
    date: '2026-03-28',
    dailyActiveViewers: 1,
    weeklyActiveViewers: 2,
    monthlyActiveViewers: 3,
    stickiness: 1 / 3,
    newViewers: 2,
    timeseries: [
      { date: '2026-03-27', newViewers: 1, returningViewers: 1 },
      { date: '2026-03-28', newViewers: 1, returningViewers: 1 },
    ],
  });
  const { timeseries, ...rest } = (await own.read('audience', {
    startDate: '2025-01-01',
    endDate: '2025-01-02',
  })) as { timeseries: object[] };
  assert.equal(timeseries.length, 2);
  assert.deepEqual(rest, {
    date: '2025-01-02',
    dailyActiveViewers: 0,
    weeklyActiveViewers: 0,
    monthlyActiveViewers: 0,
    stickiness: null,
    newViewers: 0,
  });
});
