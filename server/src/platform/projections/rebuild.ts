/**
 * Rebuilds a projection from the event log, beside the running service:
 *
 *   empty copies of its tables in a schema of their own → the whole log into the copies
 *   → the copies replace the tables, in one transaction
 *
 * All partitions are rebuilt together. Until that transaction, everybody reads the old tables and
 * the projectors keep them up to date; then they continue with the new ones, from where the rebuild
 * has come. A killed rebuild leaves a schema that the next one removes; a second one at the same
 * time takes over from the first, which fails.
 *
 * The log does not keep everything forever. How to handle days that it has lost is up to the
 * projection: see `RebuildPlan`.
 */
import { inBatches } from '../database/batches.ts';
import { inTransaction, type Db } from '../database/database.ts';
import type { EventLog, LogEntry } from '../event-log/event-log.ts';
import { everyPartition } from './partitions.ts';
import type { Projection } from './projection.ts';
import {
  advanceProjection,
  insertProjections,
  interruptProjections,
  setSearchPath,
} from './queries.ts';
import {
  createCopies,
  dropCopies,
  readShadowProgress,
  replaceTables,
  saveProgress,
} from './rebuild-queries.ts';
import { ProjectionRun } from './run.ts';

export type RebuildProgress = {
  readonly projection: string;
  readonly events: number;
  /** Events in the log when the rebuild began. */
  readonly total: number;
};

export type RebuildOptions<Event extends LogEntry> = {
  readonly db: Db;
  readonly eventLog: EventLog<Event>;
  readonly onProgress?: (progress: RebuildProgress) => void;
  readonly signal: AbortSignal;
  /** For tests: the number of events after which a pass is written. */
  readonly eventsOfPass?: number;
};

const defaultEventsOfPass = 80_000;
const rowsAtOnce = 500;
const page = { limitBlocks: 500, limitEvents: 20_000 };

/**
 * Rebuilds one projection. @throws if another rebuild of it has taken over, or it has to be retried
 */
export async function rebuildProjection<Event extends LogEntry>(
  projection: Projection<Event>,
  options: RebuildOptions<Event>,
): Promise<void> {
  const { name, rebuild: plan } = projection;
  const { db, eventLog, signal } = options;
  await inTransaction(db, (tx) => insertProjections(tx, [name]));
  if (plan.from === 'now') {
    const position = await eventLog.end();
    return inTransaction(db, async (tx) => {
      await interruptProjections(tx, [{ name }]);
      await plan.clear(tx);
      const partitions = everyPartition;
      await advanceProjection(tx, { name, partitions, position, events: 0, receivedAt: null });
    });
  }
  const schema = `rebuild_${name}`;
  const rows = await inTransaction(db, (tx) => createCopies(tx, schema, projection));
  try {
    const firstDayMs = await eventLog.firstDay();
    await plan.carryOver?.({ db, schema, firstDayMs, signal });
    const run = new ProjectionRun(projection, eventLog.start, { schema });
    run.resume(rows);
    await projectInto(run, options);
    const { settle } = plan;
    if (settle !== undefined) {
      await inBatches(db, rowsAtOnce, signal, async (tx) => {
        await setSearchPath(tx, schema);
        return settle(tx, rowsAtOnce);
      });
    }
    await inTransaction(db, async (tx) => {
      // The projector waits for this row, and then finds that it was overtaken.
      await interruptProjections(tx, [{ name }]);
      await plan.keepOld?.(tx, schema, firstDayMs);
      const progress = await readShadowProgress(tx, schema, name);
      await replaceTables(tx, schema, projection);
      await saveProgress(tx, name, progress);
    });
  } finally {
    await inTransaction(db, (tx) => dropCopies(tx, schema));
  }
}

async function projectInto<Event extends LogEntry>(
  run: ProjectionRun<Event>,
  { db, eventLog, onProgress, signal, eventsOfPass = defaultEventsOfPass }: RebuildOptions<Event>,
): Promise<void> {
  const total = await eventLog.countEvents();
  for (let events = 0; ;) {
    signal.throwIfAborted();
    const { blocks, next, isLast } = await eventLog.read(run.position, {
      ...page,
      limitEvents: Math.min(page.limitEvents, eventsOfPass),
    });
    run.collect(blocks, next);
    if (run.collected.events >= eventsOfPass || isLast) {
      events += run.collected.events;
      await run.write(db);
      onProgress?.({ projection: run.projection.name, events, total: Math.max(total, events) });
    }
    if (isLast) return;
  }
}
