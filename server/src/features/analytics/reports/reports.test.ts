/** Proves with a week of traffic that reports equal a recount, however the events arrive. */
import { dayMs, hourMs } from '../../../platform/values/time.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { eventKinds, type LoggedEvent } from '../../events/events.ts';
import { Recount, type Range } from '../../../../test/recount/recount.ts';
import { cameBy } from '../../../../test/recount/recount-views.ts';
import { FilteredRecount } from '../../../../test/recount/recount-filtered.ts';
import type { Filter } from '../../../../test/recount/recount-filtered-metrics.ts';
import { contentSorts } from './query-schemas.ts';
import { makeItems, startReportService } from '../../../../test/recount/reports.ts';
import { createRandom, makeTraffic, shuffled } from '../../../../test/recount/traffic.ts';

const today = Math.floor(Date.now() / dayMs) * dayMs;
const dayOf = (daysAgo: number) => new Date(today - daysAgo * dayMs).toISOString().slice(0, 10);
const startMs = today - 9 * dayMs;

const items = makeItems(15, (index) => (index === 3 ? [] : ['all', `group-${index % 3}`]));
const traffic = makeTraffic({
  seed: 7,
  contentIds: items.map(({ id }) => id),
  startMs,
  endMs: startMs + 7 * dayMs,
  viewers: 60,
  sessions: 240,
});
const recount = new Recount(traffic, items);
const filtered = new FilteredRecount(traffic, items);

const service = await startReportService();
const range = (first: number, last: number, granularity: Range['granularity'] = 'day'): Range => ({
  startDate: dayOf(first),
  endDate: dayOf(last),
  granularity,
});
/** The week, parts of it, more than it, and ranges that start or end outside of it. */
const ranges: Range[] = [
  range(9, 3),
  range(12, 0, 'week'),
  range(9, 3, 'hour'),
  range(6, 4, 'hour'),
  range(5, 5),
  range(20, 10),
  range(2, 0),
  range(29, 0, 'week'),
];
const named = (one: Range) => `${one.startDate} to ${one.endDate} by ${one.granularity}`;

before(async () => {
  await service.insertItems(items);
  await service.append(traffic, [100]);
  await service.projected();
});

/** An item's report without current feedback, which `feed-refusals.test.ts` covers. */
async function readItem(id: string, query: Parameters<typeof service.read>[1]) {
  const { feedback, ...report } = (await service.read(`content/${id}`, query)) as {
    feedback: { notInterested: number; reports: number };
  };
  const told = { id, query, feedback };
  assert.ok(feedback.notInterested + feedback.reports <= traffic.length, JSON.stringify(told));
  return report;
}

describe('a week of traffic matches the recount', () => {
  test('the traffic has every kind of event and every kind of viewer', () => {
    assert.equal(new Set(traffic.map(({ event }) => event)).size, eventKinds.length);
    assert.ok(traffic.some((event) => event.userId === undefined && event.deviceId === undefined));
    assert.ok(traffic.some((event) => event.sessionId === undefined));
    assert.ok(traffic.length > 5_000, `${traffic.length} events`);
  });

  test('overview', async () => {
    for (const one of ranges) {
      assert.deepEqual(await service.read('overview', one), recount.overview(one), named(one));
    }
  });

  const contentId = items[0]?.id ?? '';
  const filters: Filter[] = [
    { device: 'ios' },
    { country: 'DE' },
    { tag: 'group-1' },
    { contentId },
    { device: 'web', country: 'FR' },
    { device: 'android', country: 'US', tag: 'all' },
    { device: 'ios', country: 'DE', tag: 'group-0', contentId },
    { country: 'AQ' },
    { entryPoint: 'search' },
    { appVersion: '2.1.0' },
    { entryPoint: 'feed', appVersion: '3.0.0-beta', country: 'DE', tag: 'all' },
    { appVersion: 'no such version' },
  ];
  const isAboutItems = ({ tag, contentId: id }: Filter) => tag !== undefined || id !== undefined;

  test('every report with filters, alone and combined', async () => {
    for (const filter of filters) {
      for (const one of ranges) {
        const query = { ...one, ...filter };
        const about = JSON.stringify(query);
        assert.deepEqual(
          await service.read('overview', query),
          filtered.overview(filter, one),
          about,
        );
        assert.deepEqual(
          await service.read('content', query),
          filtered.content(filter, one),
          about,
        );
        assert.deepEqual(
          await service.read('sources', query),
          filtered.sources(filter, one),
          about,
        );
        for (const segment of ['device', 'country', 'tag'] as const) {
          const answer = await service.read('engagement', { ...query, segment });
          assert.deepEqual(answer, filtered.engagement(filter, one, segment), about);
        }
        comparePlayback(await service.read('quality', query), filtered.quality(filter, one), about);
      }
    }
  });

  test('people with filters: active, new and returning viewers, and cohorts', async () => {
    for (const filter of filters) {
      for (const { startDate, endDate } of ranges) {
        const query = { startDate, endDate, ...filter };
        const about = JSON.stringify(query);
        const expected = filtered.audience(filter, query);
        assert.deepEqual(await service.read('audience', query), expected, about);
        const cohorts = filtered.retention(filter, query);
        assert.deepEqual(await service.read('retention', query), cohorts, about);
      }
    }
  });

  test('one item for a part of the audience', async () => {
    for (const filter of filters.filter((one) => !isAboutItems(one))) {
      for (const one of ranges) {
        const answer = await readItem(contentId, { ...one, ...filter });
        assert.deepEqual(answer, filtered.item(contentId, filter, one), JSON.stringify(filter));
      }
    }
  });

  test('filters that make no sense are rejected', async () => {
    const refused: [path: string, query: Record<string, string>][] = [
      ['overview', { country: 'Germany' }],
      ['overview', { contentId: 'x' }],
      ['overview', { entryPoint: '' }],
      ['sources', { country: 'DEU' }],
      [`content/${contentId}`, { tag: 'all' }],
      ['quality', { device: 'toaster' }],
    ];
    for (const [path, query] of refused) {
      assert.equal((await service.ask(path, query)).status, 400, JSON.stringify({ path, query }));
    }
  });

  test('the list of items', async () => {
    for (const one of ranges) {
      assert.deepEqual(await service.read('content', one), recount.content(one), named(one));
    }
  });

  test('single items', async () => {
    for (const { id } of [...items.slice(0, 2), ...items.slice(-1)]) {
      for (const one of ranges) {
        assert.deepEqual(await readItem(id, one), recount.item(id, one), named(one));
      }
    }
  });

  test('engagement by device, country and tag', async () => {
    for (const segment of ['device', 'country', 'tag'] as const) {
      for (const one of ranges) {
        assert.deepEqual(
          await service.read('engagement', { ...one, segment }),
          recount.engagement(one, segment),
          `${segment}, ${named(one)}`,
        );
      }
    }
  });

  test('quality, with percentiles within 2 per cent', async () => {
    for (const one of ranges) {
      comparePlayback(await service.read('quality', one), recount.quality(one), named(one));
    }
  });

  test('sources of impressions', async () => {
    const week = range(9, 3);
    const impressions = recountOnce(traffic).filter(({ event }) => event === 'impression');
    const counts = Map.groupBy(impressions, (event) => cameBy(event) ?? null);
    const expected = [...counts]
      .map(([entryPoint, { length }]) => ({
        entryPoint,
        impressions: length,
        share: length / impressions.length,
      }))
      .toSorted((a, b) => b.impressions - a.impressions);
    const { sources, timeseries } = (await service.read('sources', week)) as {
      sources: { entryPoint: string | null; impressions: number; share: number }[];
      timeseries: { impressions: Record<string, number> }[];
    };
    assert.deepEqual(
      sources.map(({ entryPoint, impressions: count, share }) => ({
        entryPoint,
        impressions: count,
        share,
      })),
      expected,
    );
    const total = timeseries.flatMap((one) => Object.values(one.impressions));
    assert.equal(
      total.reduce((sum, count) => sum + count, 0),
      impressions.length,
    );
  });

  test('items that changed most', async () => {
    const [now, before] = [range(5, 4), range(7, 6)];
    const listed = (filter: Filter, one: Range) =>
      Object.keys(filter).length === 0 ? recount.content(one) : filtered.content(filter, one);
    for (const filter of [{}, { country: 'DE' }, { tag: 'group-1' }, { entryPoint: 'feed' }]) {
      const of = (one: Range) =>
        new Map(listed(filter, one).map((item) => [item.contentId, item.metrics.plays]));
      const [current, previous] = [of(now), of(before)];
      const expected = items
        .map(({ id }) => ({ id, difference: (current.get(id) ?? 0) - (previous.get(id) ?? 0) }))
        .filter(({ difference }) => difference !== 0)
        .toSorted(
          (a, b) => Math.abs(b.difference) - Math.abs(a.difference) || (a.id < b.id ? -1 : 1),
        );
      for (const direction of ['both', 'up', 'down'] as const) {
        const query = { ...now, ...filter, limit: '5', direction };
        const moved = (await service.read('movers', query)) as {
          contentId: string;
          current: number;
          previous: number;
          difference: number;
        }[];
        const sign = { both: 0, up: 1, down: -1 }[direction];
        assert.deepEqual(
          moved.map(({ contentId: id, difference }) => ({ id, difference })),
          expected.filter((one) => sign === 0 || sign * one.difference > 0).slice(0, 5),
        );
        for (const one of moved) {
          assert.equal(one.current, current.get(one.contentId) ?? 0);
          assert.equal(one.previous, previous.get(one.contentId) ?? 0);
        }
      }
    }
  });

  test('retention by day and week', async () => {
    for (const one of ranges.filter(({ granularity }) => granularity !== 'hour')) {
      assert.deepEqual(
        await service.read('retention', one),
        recount.retention(one, Date.now()),
        named(one),
      );
    }
  });
});

/** Events with the same id count once. */
function recountOnce(events: readonly LoggedEvent[]): LoggedEvent[] {
  return [...new Map(events.map((event) => [event.eventId, event])).values()];
}

const percentiles = ['p50', 'p75', 'p95', 'p99'] as const;

function percentilesOf(quality: unknown): (number | null)[] {
  const { summary, timeseries } = quality as { summary: Start; timeseries: Start[] };
  return [summary, ...timeseries].flatMap((one) =>
    percentiles.map((name) => one.startupTime[name]),
  );
}

/** Percentiles are accurate within 2 %; everything else is equal. */
function comparePlayback(answer: unknown, expected: unknown, about: string): void {
  assert.deepEqual(withoutPercentiles(answer), withoutPercentiles(expected), about);
  const found = percentilesOf(answer);
  for (const [index, ms] of percentilesOf(expected).entries()) {
    const near = found[index] ?? null;
    if (ms === null || near === null) assert.equal(near, ms);
    // Responses are in whole milliseconds.
    else assert.ok(Math.abs(near - ms) <= 0.0205 * ms + 0.5, `${near} stands for ${ms}`);
  }
}

type Start = { startupTime: Record<(typeof percentiles)[number], number | null> };

function withoutPercentiles(quality: unknown): unknown {
  return JSON.parse(
    JSON.stringify(quality, (key, value: unknown) =>
      (percentiles as readonly string[]).includes(key) ? undefined : value,
    ),
  );
}

describe('the order and grouping of events do not matter', () => {
  const paths = [
    'overview',
    'content',
    `content/${items[0]?.id}`,
    'engagement',
    'quality',
    'retention',
    'sources',
  ];
  const random = createRandom(11);
  const twice: LoggedEvent[] = shuffled([...traffic, ...traffic], 3);
  const sizes = Array.from({ length: 50 }, () => 1 + Math.floor(random() * 400));

  test('shuffled, duplicated and regrouped, they give the same bytes', async () => {
    const other = await startReportService();
    await other.insertItems(items);
    // In pieces, so that passes see parts of sessions.
    for (let at = 0; at < twice.length; at += 3_000) {
      await other.append(twice.slice(at, at + 3_000), sizes);
      await other.projected();
    }
    for (const path of paths) {
      for (const one of ranges) {
        const [expected, found] = [await service.read(path, one), await other.read(path, one)];
        assert.equal(JSON.stringify(found), JSON.stringify(expected), `${path}, ${named(one)}`);
      }
    }
    for (const path of ['overview', 'content', 'quality', 'audience']) {
      const query = { ...range(9, 3), entryPoint: 'search', country: 'DE' };
      if (path === 'audience') Reflect.deleteProperty(query, 'granularity');
      const [expected, found] = [await service.read(path, query), await other.read(path, query)];
      assert.equal(JSON.stringify(found), JSON.stringify(expected), path);
    }
  });
});

describe("days follow the organization's time zone", () => {
  // The zone has no daylight saving time, and its days begin at a quarter past an hour of UTC.
  const timeZone = 'Asia/Kathmandu';
  const aheadMs = 5 * hourMs + 45 * 60_000;
  const own = makeItems(15, (index) => items[index]?.tags ?? []);
  const idOf = new Map(items.map(({ id }, index) => [id, own[index]?.id ?? id]));
  const events = traffic.map((event) => {
    const from = event.data['fromContentId'];
    return {
      ...event,
      contentId: idOf.get(event.contentId) ?? event.contentId,
      data: { ...event.data, ...(typeof from === 'string' && { fromContentId: idOf.get(from) }) },
    };
  });
  const shifted = new Recount(
    events.map((event) => ({ ...event, at: event.at + aheadMs })),
    own,
  );
  const within = ranges.filter(({ endDate }) => endDate <= dayOf(2));

  test('every report uses a clock ahead of UTC', async () => {
    const organization = await service.addOrganization('Kathmandu');
    const { status } = await service.call('PATCH', '/v1/organization', {
      key: organization.secretKey,
      body: { timeZone },
    });
    assert.equal(status, 200);
    await organization.insertItems(own);
    await organization.append(events, [70]);
    await service.projected();
    const id = own[0]?.id ?? '';
    for (const one of within) {
      const reports: [path: string, expected: unknown][] = [
        ['overview', shifted.overview(one)],
        ['content', shifted.content(one)],
        [`content/${id}`, shifted.item(id, one)],
        ['engagement', shifted.engagement(one, 'device')],
        ['quality', shifted.quality(one)],
      ];
      for (const [path, expected] of reports) {
        const read = await organization.read(path, one);
        if (path === `content/${id}`) delete (read as { feedback?: unknown }).feedback;
        const answer = withoutPercentiles(read);
        assert.deepEqual(inUtc(answer), withoutPercentiles(expected), `${path}, ${named(one)}`);
      }
    }
    for (const one of within.filter(({ granularity }) => granularity !== 'hour')) {
      const answer = await organization.read('retention', one);
      assert.deepEqual(answer, shifted.retention(one, Date.now() + aheadMs), named(one));
    }
  });

  /** Formats hours as the recount does, which does not know time zones. */
  function inUtc(answer: unknown): unknown {
    const text = JSON.stringify(answer).replaceAll('.000+05:45"', '.000Z"');
    return JSON.parse(text);
  }

  test('an invalid time zone is rejected', async () => {
    for (const wrong of ['Berlin', '+05:45', '']) {
      const reply = await service.call('PATCH', '/v1/organization', { body: { timeZone: wrong } });
      assert.equal(reply.status, 400, wrong);
      assert.equal(reply.body.error.details[0].path, 'timeZone');
    }
    const { body } = await service.call('GET', '/v1/organization');
    assert.equal(body.data.timeZone, 'UTC');
  });
});

describe('the list of items', () => {
  type Listed = { contentId: string; metrics: Record<string, number | null> };
  const week = range(9, 3);

  /** The expected order: items without the rate come last, ids break ties. */
  function sorted(listed: readonly Listed[], sort: string, order: 'asc' | 'desc'): string[] {
    const sign = order === 'asc' ? 1 : -1;
    const valueOf = ({ metrics }: Listed) =>
      sort === 'createdAt' ? 0 : (metrics[sort] ?? (order === 'asc' ? Infinity : -Infinity));
    return listed
      .toSorted((a, b) => {
        const [one, other] = [valueOf(a), valueOf(b)];
        if (one !== other) return one < other ? -sign : sign;
        return a.contentId < b.contentId ? -sign : sign;
      })
      .map(({ contentId }) => contentId);
  }

  async function readAll(
    params: Record<string, string>,
  ): Promise<{ ids: string[]; total: number }> {
    const ids: string[] = [];
    let total = -1;
    for (let cursor: string | null = ''; cursor !== null;) {
      const paging: Record<string, string> = cursor === '' ? {} : { cursor };
      const { status, body, text } = await service.ask('content', { ...params, ...paging });
      assert.equal(status, 200, text);
      assert.ok(body.data.length <= Number(params['limit']));
      if (cursor !== '') assert.equal(body.meta.total, total, 'the total stays');
      total = body.meta.total;
      ids.push(...body.data.map((one: Listed) => one.contentId));
      cursor = body.meta.nextCursor;
    }
    return { ids, total };
  }

  test('is sorted by any metric in either order, and paged without gaps or repeats', async () => {
    const listed = recount.content(week) as unknown as Listed[];
    for (const sort of contentSorts) {
      for (const order of ['asc', 'desc'] as const) {
        for (const limit of ['1', '4', '100']) {
          const { ids, total } = await readAll({ ...week, sort, order, limit });
          assert.deepEqual(ids, sorted(listed, sort, order), `${sort} ${order} by ${limit}`);
          assert.equal(total, listed.length);
        }
      }
    }
  });

  test('contains the items with any of the tags', async () => {
    const tagged = (tags: string) => readAll({ ...week, tags, limit: '100' });
    const listed = recount.content(week).map(({ contentId }) => contentId);
    const withTag = (...tags: string[]) => {
      const ids = new Set(
        items.filter((item) => item.tags.some((tag) => tags.includes(tag))).map(({ id }) => id),
      );
      return listed.filter((id) => ids.has(id));
    };
    assert.deepEqual((await tagged('group-1')).ids, withTag('group-1'));
    assert.deepEqual((await tagged('group-1, group-2')).ids, withTag('group-1', 'group-2'));
    assert.deepEqual(await tagged('Group-1'), { ids: [], total: 0 });
    assert.equal((await tagged('all')).total, listed.length - 1);
  });

  test('has cursors bound to one range, filter, order and organization', async () => {
    const { body } = await service.ask('content', { ...week, limit: '2' });
    const cursor = body.meta.nextCursor as string;
    const refused: Record<string, string>[] = [
      { ...range(9, 4) },
      { ...week, tags: 'all' },
      { ...week, sort: 'likes' },
      { ...week, order: 'asc' },
    ];
    for (const params of refused) {
      const reply = await service.ask('content', { ...params, cursor });
      assert.equal(reply.body.error.code, 'INVALID_CURSOR', JSON.stringify(params));
    }
    const other = await service.addOrganization('With a foreign cursor');
    const reply = await other.ask('content', { ...week, limit: '2', cursor });
    assert.equal(reply.body.error.code, 'INVALID_CURSOR');
    assert.equal((await service.ask('content', { ...week, cursor, limit: '50' })).status, 200);
  });
});
