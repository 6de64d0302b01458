/**
 * Compares every report of a service with a recount, both after live counting and after a rebuild.
 */
import assert from 'node:assert/strict';
import { describe, test, before } from 'node:test';
import { openDatabase } from '../../src/platform/database/database.ts';
import { rebuildProjection } from '../../src/platform/projections/rebuild.ts';
import { dayMs } from '../../src/platform/values/time.ts';
import { atEnd, silentLog } from '../database.ts';
import { openEventLog } from '../../src/features/events/events.ts';
import { ownProjections } from '../../src/features/analytics/projections/all-projections.ts';
import type { BrokenReport } from './recount-breakdown.ts';
import { insertExperiment, variantOf } from './recount-experiment.ts';
import { FilteredRecount } from './recount-filtered.ts';
import type { Filter } from './recount-filtered-metrics.ts';
import { Recount, type Range } from './recount.ts';
import { makeItems, startReportService, type ReportService } from './reports.ts';
import { makeTraffic } from './traffic.ts';

const today = Math.floor(Date.now() / dayMs) * dayMs;
const startMs = today - 9 * dayMs;
const dayOf = (daysAgo: number) => new Date(today - daysAgo * dayMs).toISOString().slice(0, 10);
const ranges: Range[] = [
  { startDate: dayOf(9), endDate: dayOf(3) },
  { startDate: dayOf(6), endDate: dayOf(5), granularity: 'hour' },
  { startDate: dayOf(12), endDate: dayOf(0), granularity: 'week' },
];
const filters: Filter[] = [
  { device: 'ios' },
  { entryPoint: 'search', country: 'DE' },
  { appVersion: '2.1.0', tag: 'group-1' },
];

const breakdowns: [
  report: BrokenReport | 'item',
  dimensions: string[],
  filter?: Filter,
  top?: number,
][] = [
  ['overview', ['device']],
  ['overview', ['country', 'author'], {}, 4],
  ['overview', ['tag'], { device: 'ios' }],
  ['overview', ['tag', 'device'], {}, 3],
  ['overview', ['experimentVariant']],
  ['overview', ['experimentVariant', 'country'], { appVersion: '2.1.0' }, 5],
  ['overview', ['position', 'appVersion'], { entryPoint: 'search' }, 100],
  ['overview', ['language', 'contentType']],
  ['content', ['section', 'sharePlatform'], {}, 7],
  ['content', ['feedId'], { tag: 'group-1' }],
  ['item', ['device', 'experimentVariant'], {}, 3],
  ['item', ['country'], { device: 'web' }, 2],
  ['engagement', ['entryPoint', 'appVersion'], { country: 'DE' }],
  ['engagement', ['author']],
  ['quality', ['errorCode']],
  ['quality', ['rendition', 'codec'], { device: 'android' }, 6],
  ['sources', ['entryPoint']],
  ['sources', ['entryPoint', 'section'], {}, 100],
];
const viewers = 1_000;

/** @param eventCount minimum number of events to send */
export async function compareWithRecount(eventCount: number): Promise<void> {
  const items = makeItems(15, (index) => ['all', `group-${index % 3}`]).map((item, index) => ({
    ...item,
    ...(index !== 7 && { author: `author-${index % 4}` }),
    ...(index % 5 > 0 && { section: `section-${index % 5}` }),
    ...(index % 3 > 0 && { language: index % 3 === 1 ? 'en' : 'de' }),
  }));
  const traffic = makeTraffic({
    seed: 17,
    contentIds: items.map(({ id }) => id),
    startMs,
    endMs: startMs + 7 * dayMs,
    viewers,
    sessions: Math.ceil(eventCount / 25),
  });
  const service = await startReportService();
  const recount = new Recount(traffic, items);
  const filtered = new FilteredRecount(traffic, items);
  const contentId = items[0]?.id ?? '';
  let experiment = '';

  before(async () => {
    assert.ok(traffic.length >= eventCount, `${traffic.length} events`);
    await service.insertItems(items);
    await service.append(traffic, [700, 30, 2_000]);
    experiment = await insertExperiment(service, viewers);
    await service.projected();
  });

  const compareAll = async () => {
    for (const range of ranges) {
      const expected: [path: string, asked: Filter & { segment?: string }, expected: unknown][] = [
        ['overview', {}, recount.overview(range)],
        ['content', {}, recount.content(range)],
        [`content/${contentId}`, {}, recount.item(contentId, range)],
        ['engagement', {}, recount.engagement(range, 'device')],
        ['engagement', { segment: 'tag' }, recount.engagement(range, 'tag')],
        ['quality', {}, recount.quality(range)],
        ...filters.flatMap((filter): [string, Filter, unknown][] => [
          ['overview', filter, filtered.overview(filter, range)],
          ['content', filter, filtered.content(filter, range)],
          ['engagement', filter, filtered.engagement(filter, range, 'device')],
          ['quality', filter, filtered.quality(filter, range)],
          ['sources', filter, filtered.sources(filter, range)],
        ]),
      ];
      for (const [path, asked, answer] of expected) {
        const about = `${path} ${JSON.stringify({ ...range, ...asked })}`;
        const read = await service.read(path, { ...range, ...asked });
        // Current feedback is covered by `feed-refusals.test.ts`.
        const { feedback: _, ...item } = read as { feedback?: unknown };
        const found = path.startsWith('content/') ? item : read;
        assert.deepEqual(exact(found), exact(withEstimates(answer, found)), about);
      }
    }
    const week = { startDate: dayOf(9), endDate: dayOf(3) };
    assert.deepEqual(
      await service.read('retention', week),
      recount.retention({ ...week, granularity: 'day' }, Date.now()),
    );
    assert.deepEqual(await service.read('viewers', week), recount.viewers(week));
    assert.deepEqual(await service.read('hours', week), recount.hours(week));
    for (const filter of filters) {
      const asked = { ...week, ...filter };
      assert.deepEqual(await service.read('viewers', asked), filtered.viewers(filter, week));
      assert.deepEqual(await service.read('hours', asked), filtered.hours(filter, week));
      assert.deepEqual(await service.read('audience', asked), filtered.audience(filter, week));
      assert.deepEqual(await service.read('retention', asked), filtered.retention(filter, week));
    }
  };

  const compareBreakdowns = async () => {
    const range = { startDate: dayOf(9), endDate: dayOf(3) };
    for (const [report, dimensions, filter = {}, top = 10] of breakdowns) {
      const isByVariant = dimensions.includes('experimentVariant');
      const asked = {
        ...range,
        ...filter,
        breakdown: dimensions.join(','),
        top: String(top),
        ...(isByVariant && { experiment }),
      };
      const answer = await askForBreakdown(service, report, asked, contentId);
      const about = report === 'item' ? { ...filter, contentId } : filter;
      const wanted = { report: report === 'item' ? ('content' as const) : report, dimensions, top };
      const expected = filtered.breakdown({ ...wanted, variantOf }, about, range);
      assert.deepEqual(exact(answer), exact(expected), JSON.stringify([report, asked]));
    }
  };

  describe(`${eventCount} events match the recount`, () => {
    test('counted live', compareAll);
    test('broken down', compareBreakdowns);

    test('after a rebuild of every projection', async () => {
      await rebuildAll(service);
      await service.projected();
      await compareAll();
      await compareBreakdowns();
    });
  });
}

/** The breakdown of a response; a list has it in `meta`. */
async function askForBreakdown(
  service: ReportService,
  report: BrokenReport | 'item',
  asked: Record<string, string>,
  contentId: string,
): Promise<unknown> {
  const path = report === 'item' ? `content/${contentId}` : report;
  const { status, text, body } = await service.ask(path, asked);
  assert.equal(status, 200, text);
  return report === 'content' ? body.meta['breakdown'] : body.data['breakdown'];
}

async function rebuildAll({ connection }: ReportService): Promise<void> {
  const database = openDatabase({ connection, poolSize: 4, log: silentLog });
  atEnd(() => database[Symbol.asyncDispose]());
  const { db } = database;
  const { signal } = new AbortController();
  for (const projection of ownProjections) {
    await rebuildProjection(projection, { db, eventLog: openEventLog(db), signal });
  }
}

/** Without percentiles, which are accurate within 2 %. */
function exact(answer: unknown): unknown {
  return JSON.parse(
    JSON.stringify(answer, (key, value: unknown) => (/^p\d\d$/.test(key) ? undefined : value)),
  );
}

/**
 * The recount with estimated unique viewers taken from the report: only above 1,024, and within
 * three per cent. Changes follow from the estimates.
 */
function withEstimates(recounted: unknown, found: unknown, name = ''): unknown {
  if (name === 'engagementRate' && typeof recounted === 'object') return found;
  if (name === 'uniqueViewers' || name === 'reactingViewers') {
    if (typeof recounted === 'object' && recounted !== null) return found;
    const [exactly, estimate] = [Number(recounted), Number(found)];
    return exactly > 1_024 && Math.abs(estimate - exactly) <= 0.03 * exactly ? found : recounted;
  }
  if (Array.isArray(recounted)) {
    const others = Array.isArray(found) ? (found as unknown[]) : [];
    return recounted.map((one: unknown, index) => withEstimates(one, others[index]));
  }
  if (typeof recounted !== 'object' || recounted === null) return recounted;
  const others = (found ?? {}) as Record<string, unknown>;
  const all: Record<string, unknown> = Object.fromEntries(
    Object.entries(recounted).map(([key, one]) => [key, withEstimates(one, others[key], key)]),
  );
  const { uniqueViewers: unique, reactingViewers: reacting, engagementRate } = all;
  // The rate follows from the viewer counts next to it.
  return typeof engagementRate === 'number'
    ? { ...all, engagementRate: Math.min(Number(reacting), Number(unique)) / Number(unique) }
    : all;
}
