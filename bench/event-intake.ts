/**
 * How many durable, deduplicated events does one process receive while it projects them? Reported
 * as a ratio to a Fastify route that only parses the same bodies; both are loaded alternately, and
 * the load generator runs on the same cores. Alternating with these, it also runs alongside 300
 * phones whose bodies trickle in and three connections that send only headers, which may cost a
 * tenth.
 *
 * BENCH_PRELOAD=<million> first stores this many events and keys, to measure the effect of age.
 * BENCH_ROLES=api measures intake alone; with `worker`, the process also computes the statistics.
 * BENCH_RANDOM_IDS=1 sends random ids instead of ordered ones.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { insertReadyItems } from './lib/catalogue.ts';
import { loadEvents, type EventLoad, type EventLoadResult } from './lib/event-load.ts';
import { median, report, type Row } from './lib/report.ts';
import { freePort, startBenchService } from './lib/service.ts';
import { openSlowBodies } from './lib/slow-bodies.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 4);
const preloadMillions = Number(process.env['BENCH_PRELOAD'] ?? 0);
const slowBodies = { slow: 300, silent: 3 };
const minShareBeside = 0.9;
const orderedIds = process.env['BENCH_RANDOM_IDS'] === undefined;
const parseOnlyScript = fileURLToPath(new URL('./lib/parse-only-route.ts', import.meta.url));

const roles = process.env['BENCH_ROLES'] ?? 'api,worker,media';
await using service = await startBenchService({ REELFEED_ROLES: roles });
const { db } = service.database;
await insertReadyItems(db, 1, 1_000);
const { rows } = await sql<{ content_id: string }>`select content_id from content`.execute(db);
const contentIds = rows.map((row) => row.content_id);
if (preloadMillions > 0) await preload(preloadMillions);

const port = await freePort();
const parseOnly = spawn(process.execPath, [parseOnlyScript, String(port)], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
await once(parseOnly.stdout, 'data');

const shapes = [
  {
    name: 'batches of 100',
    path: '/v1/events/batch',
    eventsInBatch: 100,
    connections: 32,
    least: 0.5,
  },
  { name: 'single events', path: '/v1/events', eventsInBatch: 0, connections: 128, least: 0.6 },
] as const;
const figures: Row[] = [];
for (const shape of shapes) figures.push(...(await measure(shape)));
parseOnly.kill('SIGTERM');
report(figures);

async function measure({ name, least, ...load }: (typeof shapes)[number]): Promise<Row[]> {
  const intake: EventLoadResult[] = [];
  const beside: EventLoadResult[] = [];
  const bare: EventLoadResult[] = [];
  const common = { ...load, key: service.publishableKey, contentIds, seconds, orderedIds };
  for (let round = -2; round < rounds; round += 1) {
    const real = await loadEvents({ ...common, url: service.url });
    const besideSlow = await loadBesideSlow(common);
    const parsed = await loadEvents({ ...common, url: `http://127.0.0.1:${port}` });
    // The first rounds warm both up, because it takes seconds to compile the service's hot paths.
    if (round < 0) continue;
    intake.push(real);
    beside.push(besideSlow);
    bare.push(parsed);
  }
  const events = Math.max(1, load.eventsInBatch);
  const ratio = median(quotients(intake, bare));
  const shareBeside = median(quotients(beside, intake));
  const rate = median(intake.map((one) => one.requestsPerSecond)) * events;
  const rateBeside = median(beside.map((one) => one.requestsPerSecond)) * events;
  const failures = unstored(intake);
  const failuresBeside = unstored(beside);
  return [
    {
      what: `${name}: stored`,
      figure: `${Math.round(rate)} events/s`,
      ...(events > 1 && { limit: '≥ 60000 events/s', kept: rate >= 60_000 }),
    },
    {
      what: `${name}: parsed only`,
      figure: `${Math.round(median(bare.map((one) => one.requestsPerSecond)) * events)} events/s`,
    },
    {
      what: `${name}: ratio`,
      figure: ratio.toFixed(2),
      limit: `≥ ${least}`,
      kept: ratio >= least,
    },
    {
      what: `${name}: response p50, p99`,
      figure: `${median(intake.map((one) => one.p50Ms)).toFixed(1)}, ${median(intake.map((one) => one.p99Ms)).toFixed(1)} ms`,
    },
    {
      what: `${name}: failed requests`,
      figure: String(failures),
      limit: '0',
      kept: failures === 0,
    },
    {
      what: `${name}: stored alongside ${slowBodies.slow} slow bodies`,
      figure: `${Math.round(rateBeside)} events/s`,
    },
    {
      what: `${name}: alongside ÷ alone`,
      figure: shareBeside.toFixed(2),
      limit: `≥ ${minShareBeside.toFixed(2)}`,
      kept: shareBeside >= minShareBeside,
    },
    {
      what: `${name}: failed requests alongside slow bodies`,
      figure: String(failuresBeside),
      limit: '0',
      kept: failuresBeside === 0,
    },
  ];
}

async function loadBesideSlow(load: Omit<EventLoad, 'url'>): Promise<EventLoadResult> {
  await using slow = await openSlowBodies({ url: service.url, key: load.key, ...slowBodies });
  const result = await loadEvents({ ...load, url: service.url });
  const open = slow.open();
  if (open < slowBodies.slow / 2) throw new Error(`only ${open} slow bodies were open`);
  return result;
}

/** Ratios of the first to the second, round by round. */
function quotients(first: readonly EventLoadResult[], second: readonly EventLoadResult[]) {
  return first.map(
    (one, index) => one.requestsPerSecond / (second[index]?.requestsPerSecond ?? Number.NaN),
  );
}

function unstored(results: readonly EventLoadResult[]): number {
  return results.reduce((sum, one) => sum + one.refused + one.failed, 0);
}

/**
 * Fills the ledger and the log as if events had arrived for a long time, in blocks of 4,000 events.
 */
async function preload(millions: number): Promise<void> {
  await loadEvents({
    url: service.url,
    path: '/v1/events/batch',
    key: service.publishableKey,
    contentIds,
    eventsInBatch: 100,
    connections: 32,
    seconds: 1,
  });
  for (let million = 0; million < millions; million += 1) {
    // UUIDv7 keys from an hour ago and earlier, masked like those of an organization.
    await sql`
      insert into event_key_a (event_key)
      select (substr(id, 1, 8) || '-' || substr(id, 9, 4) || '-7' || substr(id, 14, 3) || '-8' ||
        substr(id, 18, 3) || '-' || substr(id, 21, 12))::uuid
      from (select lpad(to_hex(${million}::bigint * 1000000 + n), 12, '0') || md5(random()::text) as id
        from generate_series(1, 1000000) n) made
      on conflict do nothing`.execute(db);
    await sql`
      insert into event_block (organization_id, event_count, events)
      select organization_id, event_count, events
      from (select * from event_block order by event_count desc limit 1) block,
        generate_series(1, 1000000 / greatest(event_count, 1))`.execute(db);
  }
  await sql`vacuum analyze event_block`.execute(db);
  await untilProjected();
}

/** Waits for projections, so that the preloaded events are not processed during the measurement. */
async function untilProjected(): Promise<void> {
  if (!roles.includes('worker')) return;
  for (;;) {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    const behind = [...text.matchAll(/^projection_lag_blocks\{.*\} (\d+)/gm)];
    if (behind.length > 0 && behind.every((match) => match[1] === '0')) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
