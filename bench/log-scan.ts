/**
 * What does a page of one organization's event log cost among millions of blocks of others, and
 * what does an export of one day cost among all other days? Reports storage pages and milliseconds
 * before and after old blocks are joined, compared with a scan of everyone's blocks.
 *
 * BENCH_BLOCKS=1000000,3000000 sets the numbers of other blocks.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { openEventLog, type LoggedEvent } from '../server/src/features/events/events.ts';
import { readEvents } from '../server/src/features/exports/datasets/events.ts';
import { encodeBlock } from '../server/src/platform/event-log/block-codec.ts';
import { joinOldBlocks } from '../server/src/platform/event-log/postgres/join.ts';
import { openDatabase } from '../server/src/platform/database/database.ts';
import { createLogger } from '../server/src/platform/logging/logging.ts';
import { connectionToRunningServer } from '../server/src/platform/postgres/running-server.ts';
import { dayMs } from '../server/src/platform/values/time.ts';
import { clockOf } from '../server/src/platform/values/zone-clock.ts';
import { report, type Row } from './lib/report.ts';
import { BlockSeeder, costOfReading } from './lib/seed-blocks.ts';
import { startBenchService } from './lib/service.ts';

const sizes = (process.env['BENCH_BLOCKS'] ?? '1000000,3000000').split(',').map(Number);
const days = 10;
const ownBlocksOfDay = 200;
const blocksAtOnce = 250_000;
const maxPages = 150;
const rounds = 5;

// Only the database is needed, without a worker that joins blocks.
await using service = await startBenchService({ REELFEED_ROLES: 'api' });
const connection = await connectionToRunningServer(service.dataDir);
// A single connection, so that all page reads are counted.
await using one = openDatabase({ connection, poolSize: 1, log: createLogger('error') });
const { db } = one;
const eventLog = openEventLog(db);
const signal = new AbortController().signal;
const today = Math.floor(Date.now() / dayMs) * dayMs;
const sample: LoggedEvent = {
  eventId: randomUUID(),
  event: 'like',
  contentId: randomUUID(),
  at: today - 5 * dayMs + 3_600_000,
  userId: 'viewer-1',
  data: {},
};
const bytes = await encodeBlock([sample]);
const seeder = new BlockSeeder(db);

for (let day = 0; day <= days; day += 1) await seeder.createDay(today - day * dayMs);

const addBlocks = (organizationId: string, dayStartMs: number, count: number) =>
  seeder.add({ dayStartMs, count, organizationId: sql`${organizationId}`, bytes });
const pagesOf = (work: () => Promise<unknown>) => costOfReading(db, rounds, work);

const readTenant = () =>
  eventLog.read(eventLog.start, {
    limitBlocks: 100,
    limitEvents: 10_000,
    organizationId: 'org_without',
  });

/** No index applies here, just as before the index existed. */
const readThroughAll = () =>
  sql`select count(*) from (
    select from event_block where written_by >= '1'::xid8 and organization_id || '' = 'org_without'
    order by written_by, sequence limit 100) found`.execute(db);

async function exportDay(): Promise<number> {
  const range = {
    organizationId: 'org_own' as const,
    startMs: today - 5 * dayMs,
    endMs: today - 4 * dayMs,
    clock: clockOf('UTC'),
    filter: {},
  };
  let rows = 0;
  for await (const { events } of readEvents({ db, eventLog }, range, null, signal)) {
    rows += events.length;
  }
  return rows;
}

const rows: Row[] = [];

async function measure(label: string): Promise<void> {
  const tenant = await pagesOf(readTenant);
  const day = await pagesOf(exportDay);
  rows.push(
    {
      what: `a page of an organization without blocks, ${label}`,
      figure: `${tenant.pages} pages, ${tenant.ms.toFixed(1)} ms`,
      limit: `${maxPages} pages`,
      kept: tenant.pages <= maxPages,
    },
    {
      what: `an export of one day of ten, ${label}`,
      figure: `${day.pages} pages, ${day.ms.toFixed(1)} ms`,
    },
  );
}

let foreign = 0;
for (let day = days; day >= 1; day -= 1)
  await addBlocks('org_own', today - day * dayMs, ownBlocksOfDay);
await sql`analyze event_block`.execute(db);
await measure('alone');
for (const size of sizes) {
  for (; foreign < size; foreign += blocksAtOnce) {
    const day = days - ((foreign / blocksAtOnce) % days);
    await addBlocks('org_foreign', today - day * dayMs, Math.min(blocksAtOnce, size - foreign));
  }
  await sql`analyze event_block`.execute(db);
  await measure(`${size} foreign blocks`);
}
const through = await pagesOf(readThroughAll);
rows.push({
  what: `the same page through all blocks, ${foreign} of them foreign`,
  figure: `${through.pages} pages, ${through.ms.toFixed(0)} ms`,
});

const countRows = async () => {
  const { rows: found } = await sql<{ blocks: number }>`
    select count(*)::int as blocks from event_block`.execute(db);
  return found[0]?.blocks ?? 0;
};
const blocks = await countRows();
const startedAt = performance.now();
const cpu = process.cpuUsage();
await joinOldBlocks(
  { db, stream: null },
  AbortSignal.timeout(Number(process.env['BENCH_JOIN_MS'] ?? 60_000)),
);
const { user, system } = process.cpuUsage(cpu);
const left = await countRows();
const seconds = (performance.now() - startedAt) / 1_000;
rows.push({
  what: 'joining, a quarter of the time at work',
  figure:
    `${blocks - left} of ${blocks} blocks gone in ${seconds.toFixed(0)} s, ` +
    `${((user + system) / (blocks - left)).toFixed(0)} µs of this process each`,
});
await measure('after joining');
report(rows);
