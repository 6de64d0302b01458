/** Proves bands, ranks and curves of benchmarks against a recount. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { query } from '../../../../test/seed.ts';
import { dayMs } from '../../../platform/values/time.ts';
import { Recount, type Range } from '../../../../test/recount/recount.ts';
import { makeItems, startReportService } from '../../../../test/recount/reports.ts';
import { makeTraffic } from '../../../../test/recount/traffic.ts';

const today = Math.floor(Date.now() / dayMs) * dayMs;
const made = makeItems(14);
/** Ten short clips and four longer ones, created between eight and two days ago. */
const items = made.map((item, index) => ({
  ...item,
  seconds: index < 10 ? 12 : 45,
  author: index % 2 === 0 ? 'ada' : null,
  daysAgo: 8 - Math.floor(index / 2),
}));
const traffic = makeTraffic({
  seed: 7,
  contentIds: items.map(({ id }) => id),
  startMs: today - 8 * dayMs,
  endMs: today,
  viewers: 300,
  sessions: 700,
});
const recount = new Recount(traffic, made);
const service = await startReportService();

type Item = (typeof items)[number];
type Band = { items: number; p25: number; median: number; p75: number } | null;
type Benchmark = {
  days: number;
  lengthClass: { from: number; to: number | null } | null;
  similarItems: number;
  metrics: {
    metric: 'plays' | 'hookRate' | 'swipeAwayRate';
    value: number | null;
    typical: Band;
    rankOfLast: { rank: number; of: number } | null;
    rankOfAuthor: { rank: number; of: number } | null;
  }[];
  watchedPoints: { second: number; watched: number; typical: Band }[];
};

before(async () => {
  await service.insertItems(made);
  for (const [index, { id, seconds, author, daysAgo }] of items.entries()) {
    // Items of the same day are a second apart.
    const createdAt = new Date(today - daysAgo * dayMs + (index + 1) * 1_000);
    await query(
      service,
      'update content set duration_seconds = $2, author = $3, created_at = $4 where content_id = $1',
      [id, seconds, author, createdAt],
    );
  }
  await service.append(traffic, [500]);
  await service.projected();
});

/** An item's first days, as many as the compared item has had. */
function firstDays(item: Item, days: number): Range {
  const start = today - item.daysAgo * dayMs;
  const nameOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  return { startDate: nameOf(start), endDate: nameOf(start + (days - 1) * dayMs) };
}

/** R's default quantile definition, written from its formula. */
function quartilesOf(values: readonly (number | null)[]): Band {
  const sorted = values.filter((value) => value !== null).toSorted((a, b) => a - b);
  if (sorted.length < 5) return null;
  const at = (share: number) => {
    const h = (sorted.length - 1) * share + 1;
    const below = sorted[Math.floor(h) - 1] ?? NaN;
    const above = sorted[Math.min(Math.ceil(h), sorted.length) - 1] ?? NaN;
    return below + (h - Math.floor(h)) * (above - below);
  };
  return { items: sorted.length, p25: at(0.25), median: at(0.5), p75: at(0.75) };
}

function assertNear(found: unknown, expected: unknown, about: string): void {
  const rounded = (value: unknown) =>
    JSON.parse(JSON.stringify(value), (_, one: unknown) =>
      typeof one === 'number' ? Number(one.toFixed(5)) : one,
    ) as unknown;
  assert.deepEqual(rounded(found), rounded(expected), about);
}

describe('a benchmark', () => {
  for (const index of [9, 4, 13]) {
    test(`of item ${index} is as recounted`, async () => {
      const item = items[index] as Item;
      const found = (await service.read(`content/${item.id}/benchmark`)) as Benchmark;
      const days = item.daysAgo + 1;
      const similar = items.filter(
        (one) => one !== item && one.seconds === item.seconds && one.daysAgo >= item.daysAgo,
      );
      assert.equal(found.days, days);
      assert.equal(found.similarItems, similar.length);
      assert.deepEqual(
        found.lengthClass,
        item.seconds === 12 ? { from: 0, to: 15 } : { from: 15, to: 60 },
      );
      const reportOf = (one: Item) => recount.item(one.id, firstDays(one, days));
      const older = items.slice(0, index).toReversed();
      for (const { metric, value, typical, rankOfLast, rankOfAuthor } of found.metrics) {
        const valueOf = (one: Item) => reportOf(one).summary[metric];
        const own = valueOf(item);
        assertNear(value, own, metric);
        assertNear(typical, quartilesOf(similar.map(valueOf)), metric);
        const rankIn = (others: readonly Item[]) => {
          const values = others.slice(0, 9).flatMap((one) => valueOf(one) ?? []);
          const isBetter = (other: number) =>
            metric === 'swipeAwayRate' ? other < (own ?? 0) : other > (own ?? 0);
          return own === null
            ? null
            : { rank: values.filter(isBetter).length + 1, of: values.length + 1 };
        };
        assert.deepEqual(rankOfLast, rankIn(older), metric);
        const ofAuthor = older.filter(({ author }) => author === item.author);
        assert.deepEqual(rankOfAuthor, item.author === null ? null : rankIn(ofAuthor), metric);
      }
      const curves = similar.map(
        (one) =>
          new Map(
            reportOf(one).engagement.watchedPoints.map((point) => [point.second, point.watched]),
          ),
      );
      const expected = reportOf(item).engagement.watchedPoints.map((point) => ({
        ...point,
        typical: quartilesOf(
          curves.filter(({ size }) => size > 0).map((curve) => curve.get(point.second) ?? 0),
        ),
      }));
      assertNear(found.watchedPoints, expected, 'watchedPoints');
    });
  }

  test('has bands only where there are enough items', async () => {
    const bandsOf = async ({ id }: Item) => {
      const { metrics } = (await service.read(`content/${id}/benchmark`)) as Benchmark;
      return metrics.filter(({ typical }) => typical !== null).length;
    };
    assert.ok((await bandsOf(items[9] as Item)) > 8);
    assert.equal(await bandsOf(items[13] as Item), 0);
    assert.equal(
      (await service.ask('content/0199c2a6-6f00-7000-8000-000000000001/benchmark')).status,
      404,
    );
  });
});
