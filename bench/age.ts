/**
 * Does the size of the whole log affect a small organization? Its blocks are scattered among a
 * growing number of blocks of other organizations. At each size this measures a page of its log,
 * the first block after a given time, a page of an export and an erasure, as ratios to the smallest
 * size.
 *
 * The limits apply to storage pages read, because these are the same on every machine.
 * `BENCH_BLOCKS` sets the numbers of other blocks.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { askForErasure, eraseFromLog } from '../server/src/features/events/erasure/erasure.ts';
import { openEventLog, type LoggedEvent } from '../server/src/features/events/events.ts';
import { readEvents } from '../server/src/features/exports/datasets/events.ts';
import { encodeBlock } from '../server/src/platform/event-log/block-codec.ts';
import { inTransaction, openDatabase } from '../server/src/platform/database/database.ts';
import { createLogger } from '../server/src/platform/logging/logging.ts';
import { connectionToRunningServer } from '../server/src/platform/postgres/running-server.ts';
import { dayMs } from '../server/src/platform/values/time.ts';
import { createVault } from '../server/src/platform/secrets/vault.ts';
import { clockOf } from '../server/src/platform/values/zone-clock.ts';
import { report, type Row } from './lib/report.ts';
import { BlockSeeder, costOfReading, type ReadCost } from './lib/seed-blocks.ts';
import { startBenchService } from './lib/service.ts';

const sizes = (process.env['BENCH_BLOCKS'] ?? '100000,300000,1000000').split(',').map(Number);
const days = 10;
const ownBlocksOfDay = 200;
const rounds = 9;
const maxRatio = 1.1;
const organizationId = 'org_own';

// Only the database is needed, without a worker that joins or erases blocks.
await using service = await startBenchService({ REELFEED_ROLES: 'api' });
const connection = await connectionToRunningServer(service.dataDir);
// A single connection, so that all page reads are counted.
await using one = openDatabase({ connection, poolSize: 1, log: createLogger('error') });
const { db } = one;
const eventLog = openEventLog(db);
const vault = createVault(randomBytes(32));
const signal = new AbortController().signal;
const today = Math.floor(Date.now() / dayMs) * dayMs;
const seeder = new BlockSeeder(db);

const eventOf = (userId: string): LoggedEvent => ({
  eventId: randomUUID(),
  event: 'like',
  contentId: randomUUID(),
  at: today - 5 * dayMs + 3_600_000,
  userId,
  data: {},
});
const ordinary = await encodeBlock([eventOf('viewer')]);
// One viewer per erasure, including the warm-up.
const erased = Array.from({ length: rounds + 1 }, (_, index) => `erased-${index}`);
const ofErased = await encodeBlock(erased.map(eventOf));

await sql`insert into organization (organization_id, name) values (${organizationId}, 'Own')`.execute(
  db,
);
for (let day = 0; day <= days; day += 1) await seeder.createDay(today - day * dayMs);

/**
 * Refills the log: each day has the same number of the organization's own blocks, spread evenly
 * among the others.
 */
async function fill(foreignBlocks: number): Promise<void> {
  await sql`truncate event_block`.execute(db);
  const foreignOfOne = Math.round(foreignBlocks / days / ownBlocksOfDay);
  for (let day = days; day >= 1; day -= 1) {
    const dayStartMs = today - day * dayMs;
    await seeder.add({
      dayStartMs,
      count: ownBlocksOfDay * (foreignOfOne + 1),
      organizationId: sql`case when n % ${foreignOfOne + 1}::int = 0 then ${organizationId} else 'org_foreign' end`,
      bytes: ordinary,
    });
    await seeder.add({
      dayStartMs,
      count: 1,
      organizationId: sql`${organizationId}`,
      bytes: ofErased,
      eventCount: erased.length,
    });
  }
  await sql`vacuum analyze event_block`.execute(db);
}

const readPage = () =>
  eventLog.read(eventLog.start, { limitBlocks: 100, limitEvents: 10_000, organizationId });

async function readFromMoment(): Promise<void> {
  const position = await eventLog.positionAt(today - 3 * dayMs);
  const limits = { limitBlocks: 1, limitEvents: 1, organizationId };
  const { blocks } = await eventLog.read(position, limits);
  if (blocks.length === 0) throw new Error('nothing was found after the moment');
}

async function readExportPage(): Promise<void> {
  const range = {
    organizationId,
    startMs: today - 5 * dayMs,
    endMs: today - 4 * dayMs,
    clock: clockOf('UTC'),
    filter: {},
  } as const;
  for await (const { events } of readEvents({ db, eventLog }, range, null, signal)) {
    if (events.length === 0) throw new Error('the page of the export is empty');
    return;
  }
}

// An erasure reads the end of the log within a transaction, so this uses a second connection.
const erasedLog = { ...eventLog, end: () => openEventLog(service.database.db).end() };

/** The part of an erasure that scans the log. */
function eraserOfViewers(): () => Promise<void> {
  const viewers = erased.values();
  return async () => {
    const viewer = { organizationId, userId: viewers.next().value ?? '' } as const;
    await inTransaction(db, (tx) => askForErasure(tx, vault, viewer));
    if ((await eraseFromLog({ db, eventLog: erasedLog }, viewer, signal)) === null) {
      throw new Error('the erasure was not pending');
    }
  };
}

const questions = [
  { what: "a page of the organization's log", work: () => readPage },
  { what: 'the first block after a moment', work: () => readFromMoment },
  { what: 'a page of an export', work: () => readExportPage },
  { what: 'an erasure', work: eraserOfViewers },
];
const smallest = new Map<string, ReadCost>();
const rows: Row[] = [];
for (const size of sizes) {
  await fill(size);
  for (const { what, work } of questions) {
    const cost = await costOfReading(db, rounds, work());
    const base = smallest.get(what) ?? cost;
    smallest.set(what, base);
    const ratio = cost.pages / base.pages;
    rows.push({
      what: `${what}, ${size} foreign blocks`,
      figure:
        `${cost.ms.toFixed(1)} ms (${(cost.ms / base.ms).toFixed(2)}×), ` +
        `${cost.pages} pages (${ratio.toFixed(2)}×)`,
      ...(cost !== base && { limit: `${maxRatio}× the pages`, kept: ratio <= maxRatio }),
    });
  }
}
report(rows.toSorted((a, b) => questionOf(a) - questionOf(b)));

function questionOf(row: Row): number {
  return questions.findIndex(({ what }) => row.what.startsWith(`${what},`));
}
