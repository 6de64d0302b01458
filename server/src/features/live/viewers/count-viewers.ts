import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { readStreamViewers } from './viewer-queries.ts';

/** A viewer without an event for this long has left. */
const presentForSeconds = 45;

/** Current number of viewers of live streams, by the database's clock; 0 for other items. */
export async function countStreamViewers(
  db: Db,
  organizationId: OrganizationId,
  contentIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await readStreamViewers(db, organizationId, contentIds, presentForSeconds);
  const counts = new Map(contentIds.map((id) => [id, 0]));
  for (const row of rows) counts.set(row.content_id, row.viewers);
  return counts;
}
