/**
 * What does a ranked page of 20 items for a known viewer cost? As a ratio to the same page newest
 * first, taken in turn in one run, with 10,000 and 100,000 items; latency at half of the saturation
 * rate; and how long an event takes until it shows in the feed, under that load.
 */
import { randomUUID } from 'node:crypto';
import { insertReadyItems } from './lib/catalogue.ts';
import { post, readContentIds, sendHistories } from './lib/feed-viewers.ts';
import { load } from './lib/load.ts';
import { median, report } from './lib/report.ts';
import { startBenchService, type BenchService } from './lib/service.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 2);
const viewers = 300;
const itemsEach = 60;
const connections = 16;

await using ranked = await startBenchService({ REELFEED_ROLES: 'api,worker' });
await using newest = await startBenchService({
  REELFEED_ROLES: 'api,worker',
  REELFEED_FEED_RANKING: 'off',
});
for (const { database } of [ranked, newest]) await insertReadyItems(database.db, 1, 10_000);
const contentIds = await readContentIds(ranked);
const userIds = await sendHistories(ranked, { contentIds, viewers, itemsEach });
const paths = userIds.map((userId) => `/v1/feed?limit=20&userId=${userId}`);

const small = await compare();
const half = await load({
  url: ranked.url,
  paths,
  key: ranked.publishableKey,
  connections,
  seconds: 5,
  perSecond: Math.floor(small.rankedPerSecond / 2),
});
const shownAfter = await measureLearning(small.rankedPerSecond / 2);
for (const { database } of [ranked, newest]) await insertReadyItems(database.db, 10_001, 100_000);
const large = await compare();
const growth = small.rankedPerSecond / large.rankedPerSecond;
const fallbacks = await readFallbacks(ranked);

report([
  { what: 'ranked pages/s, 10,000 items', figure: small.rankedPerSecond.toFixed(0) },
  { what: 'newest-first pages/s, 10,000 items', figure: small.newestPerSecond.toFixed(0) },
  {
    what: 'cost of ranking',
    figure: `${small.cost.toFixed(2)}×`,
    limit: '≤ 1.5×',
    kept: small.cost <= 1.5,
  },
  { what: 'p50 at half of that rate', figure: `${half.p50Ms} ms` },
  {
    what: 'p99 at half of that rate',
    figure: `${half.p99Ms} ms`,
    limit: '≤ 25 ms',
    kept: half.p99Ms <= 25,
  },
  {
    what: 'event to the feed of the process that took it',
    figure: `${shownAfter.sameMs.toFixed(0)} ms`,
    limit: '≤ 1 s',
    kept: shownAfter.sameMs <= 1_000,
  },
  { what: 'ranked pages/s, 100,000 items', figure: large.rankedPerSecond.toFixed(0) },
  { what: 'cost of ranking, 100,000 items', figure: `${large.cost.toFixed(2)}×` },
  {
    what: 'cost of ten times the items',
    figure: `${growth.toFixed(2)}×`,
    limit: '≤ 1.2×',
    kept: growth <= 1.2,
  },
  { what: 'pages that fell back', figure: String(fallbacks) },
  { what: 'failed requests', figure: String(small.failures + half.failures + large.failures) },
]);

/** Both orders in turn; the first round warms them up. */
async function compare() {
  const rates = { ranked: [] as number[], newest: [] as number[] };
  let failures = 0;
  for (let round = -1; round < rounds; round += 1) {
    const [one, other] = [await loadOf(ranked), await loadOf(newest)];
    failures += one.failures + other.failures;
    if (round < 0) continue;
    rates.ranked.push(one.perSecond);
    rates.newest.push(other.perSecond);
  }
  const ratios = rates.newest.map((rate, index) => rate / (rates.ranked[index] ?? Number.NaN));
  return {
    rankedPerSecond: median(rates.ranked),
    newestPerSecond: median(rates.newest),
    cost: median(ratios),
    failures,
  };
}

function loadOf({ url, publishableKey: key }: BenchService) {
  return load({ url, paths, key, connections, seconds });
}

/** A viewer plays an item under load: how long until it is gone from the viewer's feed? */
async function measureLearning(perSecond: number): Promise<{ sameMs: number }> {
  const { url, publishableKey: key } = ranked;
  const loading = load({ url, paths, key, connections, seconds: 4, perSecond });
  const times: number[] = [];
  for (let index = 0; index < 10; index += 1) {
    const path = `/v1/feed?limit=1&userId=learner-${index}`;
    const [shown] = await readIds(path);
    const event = { event: 'playStart', contentId: shown, userId: `learner-${index}` };
    const startedAt = performance.now();
    await post(ranked, '/v1/events', { ...event, eventId: randomUUID(), data: { startupTime: 9 } });
    while ((await readIds(path))[0] === shown);
    times.push(performance.now() - startedAt);
  }
  await loading;
  return { sameMs: median(times) };
}

async function readIds(path: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${ranked.publishableKey}` };
  const answer = await fetch(`${ranked.url}${path}`, { headers });
  const { data } = (await answer.json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

async function readFallbacks({ url }: BenchService): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const found = text.matchAll(/^feed_fallbacks_total\{.*\} (\d+)$/gm);
  return [...found].reduce((sum, [, count]) => sum + Number(count), 0);
}
