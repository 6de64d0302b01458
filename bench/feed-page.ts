/**
 * What does a ranked page of 20 items for a known viewer cost? Reports its CPU time relative to
 * that of the same page sorted newest first, measured alternately with 10,000 and 100,000 items
 * (BENCH_ITEMS sets other numbers), the latency at half the saturation rate while those viewers
 * act, and the time until an event affects the feed under that load.
 */
import { randomUUID } from 'node:crypto';
import { insertReadyItems } from './lib/catalogue.ts';
import { post, readContentIds, sendHistories } from './lib/feed-viewers.ts';
import { cpuMs } from './lib/cpu-time.ts';
import { load } from './lib/load.ts';
import { median, report } from './lib/report.ts';
import { startBenchService, type BenchService } from './lib/service.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 2);
const viewers = 300;
const itemsEach = 60;
const connections = 16;
const eventsPerSecond = 200;
const [few = 10_000, many = 100_000] = (process.env['BENCH_ITEMS'] ?? '10000,100000')
  .split(',')
  .map(Number);

await using ranked = await startBenchService({ REELFEED_ROLES: 'api,worker' });
await using newest = await startBenchService({
  REELFEED_ROLES: 'api,worker',
  REELFEED_FEED_RANKING: 'off',
});
for (const { database } of [ranked, newest]) await insertReadyItems(database.db, 1, few);
const contentIds = await readContentIds(ranked);
const userIds = await sendHistories(ranked, { contentIds, viewers, itemsEach });
const paths = userIds.map((userId) => `/v1/feed?limit=20&userId=${userId}`);

// Pages must not pay for processing the histories.
await untilProjected();

const small = await compare();
const acting = new AbortController();
const actions = act(acting.signal);
const half = await load({
  url: ranked.url,
  paths,
  key: ranked.publishableKey,
  connections,
  seconds: 15,
  perSecond: Math.floor(small.rankedPerSecond / 2),
});
acting.abort();
await actions;
const shownAfter = await measureLearning(small.rankedPerSecond / 2);
for (const { database } of [ranked, newest]) await insertReadyItems(database.db, few + 1, many);
const large = await compare();
const growth = large.rankedMs / small.rankedMs;
const fallbacks = await readFallbacks(ranked);

report([
  {
    what: `CPU of a page, ${few} items: ranked, newest first`,
    figure: `${small.rankedMs.toFixed(2)} ms, ${small.newestMs.toFixed(2)} ms`,
  },
  {
    what: `CPU of a page, ${many} items: ranked, newest first`,
    figure: `${large.rankedMs.toFixed(2)} ms, ${large.newestMs.toFixed(2)} ms`,
  },
  { what: `ranked pages/s, ${few} items`, figure: small.rankedPerSecond.toFixed(0) },
  { what: `newest-first pages/s, ${few} items`, figure: small.newestPerSecond.toFixed(0) },
  {
    what: 'cost of ranking, by CPU',
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
    what: 'event to the feed of the process that received it',
    figure: `${shownAfter.sameMs.toFixed(0)} ms`,
    limit: '≤ 1 s',
    kept: shownAfter.sameMs <= 1_000,
  },
  { what: `ranked pages/s, ${many} items`, figure: large.rankedPerSecond.toFixed(0) },
  { what: `cost of ranking, by CPU, ${many} items`, figure: `${large.cost.toFixed(2)}×` },
  {
    what: `cost of ${many} items as a ratio to ${few}, by CPU`,
    figure: `${growth.toFixed(2)}×`,
    limit: '≤ 1.2×',
    kept: growth <= 1.2,
  },
  { what: 'pages that fell back', figure: String(fallbacks) },
  { what: 'failed requests', figure: String(small.failures + half.failures + large.failures) },
]);

/** Alternates both orders; the first round is a warm-up. */
async function compare() {
  const [rankedMs, newestMs, ratios] = [[] as number[], [] as number[], [] as number[]];
  const rates = { ranked: [] as number[], newest: [] as number[] };
  let failures = 0;
  for (let round = -1; round < rounds; round += 1) {
    const [one, other] = [await loadOf(ranked), await loadOf(newest)];
    failures += one.failures + other.failures;
    if (round < 0) continue;
    rates.ranked.push(one.perSecond);
    rates.newest.push(other.perSecond);
    rankedMs.push(one.pageMs);
    newestMs.push(other.pageMs);
    ratios.push(one.pageMs / other.pageMs);
  }
  return {
    rankedPerSecond: median(rates.ranked),
    newestPerSecond: median(rates.newest),
    rankedMs: median(rankedMs),
    newestMs: median(newestMs),
    cost: median(ratios),
    failures,
  };
}

async function loadOf({ url, publishableKey: key, pid }: BenchService) {
  const before = await cpuMs(pid);
  const result = await load({ url, paths, key, connections, seconds });
  return { ...result, pageMs: ((await cpuMs(pid)) - before) / (result.perSecond * seconds) };
}

/** Viewers play, finish and like items until aborted. */
async function act(signal: AbortSignal): Promise<void> {
  const pick = <T>(from: readonly T[]) => from[Math.floor(Math.random() * from.length)];
  while (!signal.aborted) {
    const userId = pick(userIds);
    const events = Array.from({ length: eventsPerSecond / 20 }, (_, index) => ({
      eventId: randomUUID(),
      event: index % 5 === 0 ? 'like' : 'playStart',
      contentId: pick(contentIds),
      userId,
      ...(index % 5 !== 0 && { data: { startupTime: 90 } }),
    }));
    await post(ranked, '/v1/events/batch', { events });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function untilProjected(): Promise<void> {
  for (let calm = 0; calm < 3;) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const text = await (await fetch(`${ranked.url}/metrics`)).text();
    const lags = [...text.matchAll(/^projection_lag_seconds\{.*\} ([\d.e+-]+)$/gm)];
    calm = lags.every(([, seconds]) => Number(seconds) < 2) ? calm + 1 : 0;
  }
}

/** The time until an item played under load disappears from the viewer's feed. */
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
