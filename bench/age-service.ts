/**
 * Does a service that has run for a long time cost more than a new one? Compares two that run side
 * by side: `small` with a million events over 14 days and 10,000 items, and `old` with many more
 * events over 90 days. Both alternately get the same requests, for two organizations:
 *
 *   own     has the same data in both, so that it shows what age and neighbours cost
 *   grown   has sent the same events per day, but for 90 days, and has 100,000 items, not 2,000
 *
 * Ratios compare the CPU time of the service and its database, minus what they use when idle. Pages
 * are those that the database accesses, cached or not.
 *
 * BENCH_ORGANIZATIONS sets the number of organizations in the old world. Each adds 400,000 events
 * and 3,600 items: 250 of them make 100 million events and a million items, which take 20 GB of
 * disk. BENCH_WORLDS names a folder that keeps both worlds for the next run.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { dayMs } from '../server/src/platform/values/time.ts';
import {
  openAgedWorld,
  seedAgedWorld,
  untilProjected,
  viewersOfOrganization,
  type AgedOrganization,
  type AgedWorld,
} from './lib/aged-world.ts';
import { cpuMs } from './lib/cpu-time.ts';
import { databaseCpuMs } from './lib/database-cpu.ts';
import { loadEvents } from './lib/event-load.ts';
import { load } from './lib/load.ts';
import { median, report, type Row } from './lib/report.ts';

const organizations = Number(process.env['BENCH_ORGANIZATIONS'] ?? 25);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 2);
const maxRatio = 1.1;

/** Idle PostgreSQL processes publish their statistics within ten seconds. */
const untilPublishedMs = 11_000;
const calmCpuShare = 0.1;
const maxCalmingMs = 120_000;

/** The number and latencies of some requests. */
type Done = { readonly count: number; readonly p50Ms: number; readonly p99Ms: number };
type Work = (world: AgedWorld, organization: AgedOrganization) => Promise<Done>;
type Cost = Done & { readonly usedMs: number };

const folder =
  process.env['BENCH_WORLDS'] ?? (await mkdtemp(path.join(os.tmpdir(), 'reelfeed-bench-')));
await using stack = new AsyncDisposableStack();
if (process.env['BENCH_WORLDS'] === undefined) {
  stack.defer(() => rm(folder, { recursive: true, force: true }));
}
const sizes = {
  // A report of a week compares it with the one before.
  small: { days: 14, organizations: 10, itemsOfOthers: 600, itemsOfGrown: 2_000 },
  old: { days: 90, organizations, itemsOfOthers: 3_600, itemsOfGrown: 100_000 },
};
await seedAgedWorld(path.join(folder, 'small'), sizes.small);
await seedAgedWorld(path.join(folder, 'old'), sizes.old);
const small = stack.use(await openAgedWorld(path.join(folder, 'small')));
const old = stack.use(await openAgedWorld(path.join(folder, 'old')));
const worlds = { small, old };
type Name = keyof typeof worlds;
const names: readonly Name[] = ['small', 'old'];

const dayBefore = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);
const lastWeek = `startDate=${dayBefore(7)}&endDate=${dayBefore(1)}`;

function reading(path: string): Work {
  return async ({ service }, { secretKey }) => {
    const asked = { url: `${service.url}${path}`, key: secretKey, connections: 2, seconds };
    return doneOf(await load(asked), path);
  };
}

const readFeed: Work = async ({ service }, { publishableKey }) => {
  const paths = Array.from(
    { length: Math.min(500, viewersOfOrganization) },
    (_, viewer) => `/v1/feed?limit=20&userId=user-${viewer}`,
  );
  const asked = { url: service.url, paths, key: publishableKey, connections: 4, seconds };
  return doneOf(await load(asked), 'the feed');
};

function doneOf(
  { perSecond, p50Ms, p99Ms, failures }: Awaited<ReturnType<typeof load>>,
  what: string,
): Done {
  if (failures > 0) throw new Error(`${failures} requests for ${what} failed`);
  // `perSecond` is 0 if the first request takes longer than the warm-up.
  return { count: Math.max(1, perSecond * seconds), p50Ms, p99Ms };
}

const readSecondPage: Work = async (world, organization) => {
  const { meta } = await ask<{ meta: { nextCursor: string } }>(world, organization, {
    path: '/v1/content?limit=20',
  });
  return reading(`/v1/content?limit=20&cursor=${meta.nextCursor}`)(world, organization);
};

/** Exports the events of one day, and waits for the file. */
const exportDay: Work = async (world, organization) => {
  const startedAt = performance.now();
  const day = dayBefore(3);
  const body = { dataset: 'events', format: 'ndjson', startDate: day, endDate: day };
  type Answer = { data: { id: string; status: string; rowCount: number | null } };
  let { data } = await ask<Answer>(world, organization, { path: '/v1/exports', body });
  while (data.status !== 'ready') {
    if (data.status === 'failed') throw new Error('the export failed');
    await delay(50);
    ({ data } = await ask<Answer>(world, organization, { path: `/v1/exports/${data.id}` }));
  }
  if ((data.rowCount ?? 0) === 0) throw new Error('the export is empty');
  const ms = performance.now() - startedAt;
  return { count: 1, p50Ms: ms, p99Ms: ms };
};

const sendEvents: Work = async ({ service }, { publishableKey: key, contentIds }) => {
  const eventsInBatch = 100;
  const batches = { path: '/v1/events/batch', key, contentIds, eventsInBatch };
  const sent = { ...batches, url: service.url, connections: 8, seconds };
  const { stored, refused, failed, p50Ms, p99Ms } = await loadEvents(sent);
  if (refused + failed > 0) throw new Error(`${refused + failed} batches were not stored`);
  // Counting the events is part of their cost.
  await untilProjected(service);
  return { count: stored * eventsInBatch, p50Ms, p99Ms };
};

async function ask<Answer>(
  { service }: AgedWorld,
  { secretKey }: AgedOrganization,
  { path, body }: { path: string; body?: object },
): Promise<Answer> {
  const answer = await fetch(`${service.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

const questions: readonly { what: string; work: Work }[] = [
  { what: 'feed page', work: readFeed },
  { what: 'first page of the content list', work: reading('/v1/content?limit=20') },
  { what: 'next page of the content list', work: readSecondPage },
  { what: 'overview of a week', work: reading(`/v1/analytics/overview?${lastWeek}`) },
  {
    what: 'overview of a week by device',
    work: reading(`/v1/analytics/overview?device=ios&${lastWeek}`),
  },
  {
    what: 'best items of a week',
    work: reading(`/v1/analytics/content?limit=20&${lastWeek}`),
  },
  { what: 'export of a day of events', work: exportDay },
  // Last, because it adds events.
  { what: 'event stored and counted', work: sendEvents },
];

/** CPU milliseconds that a world has used so far. */
async function usedMs({ service }: AgedWorld): Promise<number> {
  return (await cpuMs(service.pid)) + databaseCpuMs(service.dataDir);
}

async function touchedPages({ service }: AgedWorld): Promise<number> {
  const { rows } = await sql<{ pages: number }>`
    select (blks_read + blks_hit)::float8 as pages from pg_stat_database
    where datname = current_database()`.execute(service.database.db);
  return rows[0]?.pages ?? 0;
}

type PerWorld<T> = Record<Name, T>;

async function inBoth<T>(get: (world: AgedWorld) => Promise<T>): Promise<PerWorld<T>> {
  return { small: await get(small), old: await get(old) };
}

/**
 * Waits until the work after a start is done.
 *
 * @returns CPU time and pages per idle second
 */
async function untilCalm(): Promise<{ cpu: PerWorld<number>; pages: PerWorld<number> }> {
  const endsAt = performance.now() + maxCalmingMs;
  for (;;) {
    const startedAt = performance.now();
    const [cpu, pages] = [await inBoth(usedMs), await inBoth(touchedPages)];
    await delay(untilPublishedMs);
    const [cpuThen, pagesThen] = [await inBoth(usedMs), await inBoth(touchedPages)];
    const passed = (performance.now() - startedAt) / 1_000;
    const used = differences(cpu, cpuThen, passed);
    const isCalm = names.every((name) => used[name] < calmCpuShare * 1_000);
    if (isCalm || performance.now() > endsAt) {
      return { cpu: used, pages: differences(pages, pagesThen, passed) };
    }
  }
}

function differences(from: PerWorld<number>, to: PerWorld<number>, by = 1): PerWorld<number> {
  return { small: (to.small - from.small) / by, old: (to.old - from.old) / by };
}

// A service keeps the index of an organization up to date once its feed has been read. This is part
// of the idle load.
for (const name of names) {
  await readFeed(worlds[name], worlds[name].own);
  await readFeed(worlds[name], worlds[name].grown);
}
const idle = await untilCalm();
const rows: Row[] = names.map((name) => {
  const { events, items, bytes } = worlds[name].stored;
  return {
    what: `${name}: stored`,
    figure: `${format(events)} events, ${format(items)} items, ${(bytes / 2 ** 30).toFixed(1)} GiB`,
  };
});
rows.push({
  what: 'CPU and pages of an idle second, small and old',
  figure: `${idle.cpu.small.toFixed(0)} and ${idle.cpu.old.toFixed(0)} ms, ${idle.pages.small.toFixed(0)} and ${idle.pages.old.toFixed(0)}`,
});
for (const { what, work } of questions) {
  for (const who of ['own', 'grown'] as const) {
    const row = await compare(work, who);
    rows.push({ what: `${what}, ${who}`, ...row });
    process.stderr.write(`${what}, ${who}: ${row.figure}\n`);
  }
}
report(rows);

/** Measures both worlds alternately; the first round in each is a warm-up. */
async function compare(work: Work, who: 'own' | 'grown'): Promise<Omit<Row, 'what'>> {
  for (const name of names) {
    await work(worlds[name], worlds[name][who]);
    await work(worlds[name], worlds[name][who]);
  }
  await delay(untilPublishedMs);
  const pagesBefore = await inBoth(touchedPages);
  const startedAt = performance.now();
  const costs: PerWorld<Cost[]> = { small: [], old: [] };
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? names : names.toReversed();
    for (const name of order) costs[name].push(await costOf(name, who, work));
  }
  await delay(untilPublishedMs);
  const passed = (performance.now() - startedAt) / 1_000;
  const pages = differences(pagesBefore, await inBoth(touchedPages));
  const figuresOf = (name: Name): Figures => {
    const count = sum(costs[name].map((cost) => cost.count));
    return {
      cpuMs: sum(costs[name].map((cost) => cost.usedMs)) / count,
      pages: Math.max(0, pages[name] - passed * idle.pages[name]) / count,
      times: `${middle(costs[name], 'p50Ms')}/${middle(costs[name], 'p99Ms')}`,
    };
  };
  const [a, b] = [figuresOf('small'), figuresOf('old')];
  const ratio = b.cpuMs / a.cpuMs;
  return {
    figure:
      `${inUnits(a.cpuMs)} → ${inUnits(b.cpuMs)} (${ratio.toFixed(2)}×), ` +
      `${a.pages.toFixed(1)} → ${b.pages.toFixed(1)} pages, ` +
      `p50/p99 ${a.times} → ${b.times} ms`,
    limit: `${maxRatio}× the CPU`,
    kept: ratio <= maxRatio,
  };
}

type Figures = { cpuMs: number; pages: number; times: string };

async function costOf(name: Name, who: 'own' | 'grown', work: Work): Promise<Cost> {
  const world = worlds[name];
  const startedAt = performance.now();
  const before = await usedMs(world);
  const done = await work(world, world[who]);
  const seconds = (performance.now() - startedAt) / 1_000;
  return { ...done, usedMs: (await usedMs(world)) - before - seconds * idle.cpu[name] };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function middle(costs: readonly Cost[], figure: 'p50Ms' | 'p99Ms'): string {
  return median(costs.map((cost) => cost[figure])).toFixed(0);
}

function inUnits(ms: number): string {
  return ms < 0.1 ? `${(ms * 1_000).toFixed(1)} µs` : `${ms.toFixed(2)} ms`;
}

function format(value: number): string {
  return value.toLocaleString('en');
}
