/** Removes an erased viewer from viewer sets. */
import { sql } from 'kysely';
import type { Tx } from '../../../../platform/database/database.ts';
import { setTables, type SetTable } from './counter-queries.ts';
import { memberOf } from '../../statistics/viewer-key.ts';
import {
  createViewerSet,
  decodeViewerSet,
  encodeViewerSet,
  addViewer,
} from '../../statistics/viewer-set.ts';

type SetRow = { grain: string; period: Date; content_id: string; sketch: Buffer };

/**
 * Removes a viewer from an organization's exact sets, and deletes sets that become empty. Reads all
 * sets of the organization once.
 *
 * @returns the number of sets the viewer was in
 */
export async function removeFromSets(
  tx: Tx,
  organizationId: string,
  viewerKey: Buffer,
): Promise<number> {
  let removed = 0;
  for (const table of setTables) removed += await removeFrom(tx, table, organizationId, viewerKey);
  return removed;
}

async function removeFrom(
  tx: Tx,
  table: SetTable,
  organizationId: string,
  viewerKey: Buffer,
): Promise<number> {
  const member = memberOf(viewerKey.toString('latin1'));
  const alone = createViewerSet();
  addViewer(alone, member);
  const memberBytes = encodeViewerSet(alone).subarray(1);
  // The bytes may also match across two adjacent members; decoding decides.
  const { rows } = await sql<SetRow>`
    select grain, period, content_id, sketch from ${sql.table(table)}
    where organization_id = ${organizationId} and get_byte(sketch, 0) = ${exactForm}::int
      and position(${memberBytes}::bytea in sketch) > 0`.execute(tx);
  let removed = 0;
  for (const { grain, period, content_id: contentId, sketch } of rows) {
    const set = decodeViewerSet(sketch);
    if (set.members?.delete(member) !== true) continue;
    removed += 1;
    const row = sql`organization_id = ${organizationId} and grain = ${grain}
      and period = ${period} and content_id = ${contentId}::uuid`;
    if (set.members.size === 0) await sql`delete from ${sql.table(table)} where ${row}`.execute(tx);
    else {
      await sql`
        update ${sql.table(table)} set sketch = ${encodeViewerSet(set)} where ${row}`.execute(tx);
    }
  }
  return removed;
}

/** First byte of a set that stores its members; see viewer-set.ts. */
const exactForm = 1;
