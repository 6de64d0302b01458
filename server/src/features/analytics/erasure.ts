/** Removing what the projections keep of one viewer. */
import { inTransaction, type Db } from '../../platform/database/database.ts';
import { deleteStatesOf, stateTables } from './engagement/state-queries.ts';
import { deleteViewerRows } from './maintenance-queries.ts';
import { interruptProjections } from './projecting/queries.ts';
import { viewerKeyOf } from './viewer-keys.ts';

/**
 * Removes all rows that are about one viewer: views and sessions, the days of activity, likings and
 * what was seen. Counters stay: they say how often something happened, not who did it; so do sets of
 * viewers, which hold no more than bits of hashes. Call it after the viewer's events are gone from
 * the log, so that no pass which reads them comes later; it bears being run again.
 *
 * @returns how many rows were removed
 */
export async function eraseViewer(db: Db, organizationId: string, userId: string): Promise<number> {
  const key = viewerKeyOf(organizationId, { userId });
  if (key === null) return 0;
  return inTransaction(db, async (tx) => {
    // Whoever writes now has read the states, and must not write them back.
    await interruptProjections(tx, ['engagement', 'live', 'retention', 'viewers']);
    let removed = 0;
    for (const table of stateTables) removed += await deleteStatesOf(tx, table, key);
    for (const table of ['viewer_activity', 'viewer_profile', 'live_viewer'] as const) {
      removed += await deleteViewerRows(tx, table, key);
    }
    return removed;
  });
}
