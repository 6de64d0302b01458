/**
 * Makes a projection anew from the event log, beside the running service:
 *
 *   empty copies of its tables in a schema of their own → the whole log into the copies
 *   → the copies take the place of the tables, in one transaction
 *
 * Until that transaction, everybody reads the old tables and the projector keeps them up; then it
 * goes on with the new ones, from where the rebuild has come. A rebuild that is killed leaves a schema
 * that the next one removes; a second one at the same time takes over from the first, which fails.
 *
 * The log does not hold everything for ever. Days before its first one stay as they were counted, and
 * totals are the sum of all days; viewers keep the days on which they were active before. What a
 * viewer liked before is lost.
 */
import { inTransaction, type Db } from '../../../platform/database/database.ts';
import { endOfLog, readLog } from '../../events/events.ts';
import { keepEarlierActivity } from '../retention/earlier-activity.ts';
import type { Projection } from './projection.ts';
import { advanceProjection, insertProjections, interruptProjections } from './queries.ts';
import {
  clearTable,
  createCopies,
  dropCopies,
  keepOldPeriods,
  readFirstDay,
  readLogSize,
  readShadowProgress,
  replaceTables,
} from './rebuild-queries.ts';
import { ProjectionRun } from './run.ts';

export type RebuildProgress = {
  readonly projection: string;
  readonly events: number;
  /** Events in the log when the rebuild began. */
  readonly total: number;
};

const eventsOfPass = 80_000;
const page = { limitBlocks: 500, limitEvents: 20_000 };

/** Rebuilds one projection. @throws when another rebuild of it has taken over, or has to be tried again */
export async function rebuildProjection(
  db: Db,
  projection: Projection,
  onProgress: (progress: RebuildProgress) => void,
  signal: AbortSignal,
): Promise<void> {
  const { name } = projection;
  await inTransaction(db, (tx) => insertProjections(tx, [name]));
  if (name === 'live') return startLiveAnew(db);
  const schema = `rebuild_${name}`;
  const revision = await inTransaction(db, (tx) => createCopies(tx, schema, projection));
  try {
    // What the log no longer holds in full.
    const firstDayMs = await readFirstDay(db);
    if (name === 'retention') await keepEarlierActivity(db, schema, firstDayMs, signal);
    const run = new ProjectionRun(projection, schema);
    run.resume({ position: null, revision });
    await projectInto(db, run, onProgress, signal);
    await inTransaction(db, async (tx) => {
      // The projector waits at this row, and then finds that it was overtaken.
      await interruptProjections(tx, [name]);
      await keepOldPeriods(tx, schema, projection, firstDayMs);
      const { position, events, generation } = await readShadowProgress(tx, schema, name);
      await replaceTables(tx, schema, projection);
      await advanceProjection(tx, { name, position, events: 0, receivedAt: null });
      await tx
        .updateTable('projection')
        .set({ events, generation })
        .where('name', '=', name)
        .execute();
    });
  } finally {
    await inTransaction(db, (tx) => dropCopies(tx, schema));
  }
}

async function projectInto(
  db: Db,
  run: ProjectionRun,
  onProgress: (progress: RebuildProgress) => void,
  signal: AbortSignal,
): Promise<void> {
  const total = await readLogSize(db);
  for (let events = 0; ;) {
    signal.throwIfAborted();
    const { blocks, next, isLast } = await readLog(db, run.position, page);
    run.collect(blocks, next);
    if (run.collected.events >= eventsOfPass || isLast) {
      events += run.collected.events;
      await run.write(db);
      onProgress({ projection: run.projection.name, events, total: Math.max(total, events) });
    }
    if (isLast) return;
  }
}

/** Who watches now is known within a minute, and nothing else is kept. */
async function startLiveAnew(db: Db): Promise<void> {
  const position = await endOfLog(db);
  await inTransaction(db, async (tx) => {
    await interruptProjections(tx, ['live']);
    await clearTable(tx, 'live_viewer');
    await advanceProjection(tx, { name: 'live', position, events: 0, receivedAt: null });
  });
}
