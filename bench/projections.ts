/**
 * How fast do all projections process the events of the log? The figure is a ratio to a plain loop
 * that reads and parses the same blocks. Processor time per event includes the database.
 *
 * Then the same number of events is processed by four projectors, which share the partitions
 * through leases. They run in this process, so only their processor time per event can be compared.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { ownProjections } from '../server/src/features/analytics/projections/all-projections.ts';
import { startProjector } from '../server/src/platform/projections/projector.ts';
import { openEventLog } from '../server/src/features/events/events.ts';
import type { Db } from '../server/src/platform/database/database.ts';
import { createLogger } from '../server/src/platform/logging/logging.ts';
import { insertReadyItems } from './lib/catalogue.ts';
import { databaseCpuMs } from './lib/database-cpu.ts';
import { eventBlocks } from './lib/event-traffic.ts';
import { report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const total = Number(process.env['EVENTS'] ?? 300_000);
const items = 2_000;
// Only the database is needed, without a worker of the service.
await using service = await startBenchService({ REELFEED_ROLES: 'api' });
const { db } = service.database;
await insertReadyItems(db, 1, items);
const { rows } = await sql<{ organization_id: string; content_id: string }>`
  select organization_id, content_id from content`.execute(db);
const organizationId = rows[0]?.organization_id ?? '';
const contentIds = rows.map((row) => row.content_id);
await appendEvents();

/** Appends `total` events to the log. */
async function appendEvents(): Promise<void> {
  const traffic = { total, blockEvents: 1_000, sessions: 8_000, contentIds, endMs: Date.now() };
  for (const events of eventBlocks(traffic)) {
    await openEventLog(db).append([{ organizationId, events }]);
  }
}

async function readAll(from: Db): Promise<number> {
  let events = 0;
  const eventLog = openEventLog(from);
  for (let position = eventLog.start; ;) {
    const page = await eventLog.read(position, { limitBlocks: 1_000, limitEvents: 20_000 });
    for (const block of page.blocks) for (const { at } of block.events) events += at > 0 ? 1 : 0;
    if (page.isLast) return events;
    position = page.next;
  }
}

/** Runs this many projectors until every projection has processed `expected` events in total. */
async function projectAll(from: Db, projectors: number, expected: number): Promise<void> {
  await using running = new AsyncDisposableStack();
  for (let index = 0; index < projectors; index += 1) {
    running.use(
      startProjector({
        db: from,
        eventLog: openEventLog(from),
        log: createLogger('warn'),
        projections: ownProjections,
      }),
    );
  }
  for (;;) {
    await delay(20);
    const { rows: done } = await sql<{ name: string }>`
      select name from projection group by name having sum(events) >= ${expected}`.execute(from);
    if (done.length === ownProjections.length) return;
  }
}

/** CPU seconds of this process and of all PostgreSQL processes. */
function processorSeconds(): { node: number; database: number } {
  const { user, system } = process.cpuUsage();
  return { node: (user + system) / 1e6, database: databaseCpuMs(service.dataDir) / 1_000 };
}

async function timed(work: () => Promise<unknown>) {
  const before = processorSeconds();
  const startedAt = performance.now();
  await work();
  const seconds = (performance.now() - startedAt) / 1_000;
  const after = processorSeconds();
  return {
    perSecond: total / seconds,
    nodeMicroseconds: ((after.node - before.node) / total) * 1e6,
    databaseMicroseconds: ((after.database - before.database) / total) * 1e6,
  };
}

await readAll(db);
const plain = await timed(() => readAll(db));
const projected = await timed(() => projectAll(db, 1, total));
await appendEvents();
const shared = await timed(() => projectAll(db, 4, 2 * total));
const cpuOf = ({ nodeMicroseconds, databaseMicroseconds }: typeof projected) =>
  nodeMicroseconds + databaseMicroseconds;
const ratio = projected.perSecond / plain.perSecond;
const perSecond = (value: number) => `${Math.round(value).toLocaleString('en')}/s`;
const microseconds = (value: number) => `${value.toFixed(2)} µs`;
report([
  { what: 'events read and parsed', figure: perSecond(plain.perSecond) },
  {
    what: 'events projected',
    figure: perSecond(projected.perSecond),
    limit: '≥ 60,000/s',
    kept: projected.perSecond >= 60_000,
  },
  { what: 'ratio', figure: ratio.toFixed(2) },
  { what: 'processor time of an event, Node', figure: microseconds(projected.nodeMicroseconds) },
  {
    what: 'processor time of an event, database',
    figure: microseconds(projected.databaseMicroseconds),
  },
  { what: 'events projected by four projectors', figure: perSecond(shared.perSecond) },
  {
    what: 'processor time of an event, four projectors ÷ one',
    figure: `${microseconds(cpuOf(shared))}, ${(cpuOf(shared) / cpuOf(projected)).toFixed(2)} ×`,
  },
]);
