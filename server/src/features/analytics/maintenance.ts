/** What keeps the tables of statistics small, and removes what was deleted for good. */
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import type { DeletedItem, PurgeStep } from '../purges/purges.ts';
import { deleteContentStatistics, deleteOldHours, type HourTable } from './maintenance-queries.ts';
import { deleteFormerViewers } from './live/live-queries.ts';
import { lockProjections } from './projecting/queries.ts';
import { deleteOldProfiles } from './viewers/viewer-queries.ts';

/** How long rows by hour stay. Reports by hour reach as far back. */
export const hoursKeptDays = 90;
/** Likings fade to a hundredth in that time. */
const profilesKeptDays = 90;
const formerViewerSeconds = 300;
const rowsAtOnce = 2_000;

const hourTables: readonly HourTable[] = [
  'content_counter',
  'audience_counter',
  'viewer_set',
  'quality_counter',
];

/** Removes rows by hour and profiles that are old. Days and totals stay. */
export async function pruneStatistics(db: Db, signal: AbortSignal): Promise<void> {
  for (const table of hourTables) {
    await untilFew(db, signal, (tx) => deleteOldHours(tx, table, hoursKeptDays, rowsAtOnce));
  }
  await untilFew(db, signal, (tx) => deleteOldProfiles(tx, profilesKeptDays, rowsAtOnce));
}

/** Removes who has left a live stream. */
export async function pruneLiveViewers(db: Db, signal: AbortSignal): Promise<void> {
  await untilFew(db, signal, (tx) => deleteFormerViewers(tx, formerViewerSeconds, rowsAtOnce));
}

async function untilFew(
  db: Db,
  signal: AbortSignal,
  remove: (tx: Tx) => Promise<number>,
): Promise<void> {
  while (!signal.aborted && (await inTransaction(db, remove)) === rowsAtOnce);
}

/**
 * Removes the statistics of items that were deleted for good. It waits for the pass that is being
 * written: what comes after it sees that the items are gone, and writes nothing for them.
 */
export function purgeStatistics(db: Db): PurgeStep {
  return async (items: readonly DeletedItem[]) => {
    await inTransaction(db, async (tx) => {
      await lockProjections(tx, ['engagement', 'live']);
      await deleteContentStatistics(tx, items);
    });
  };
}
