/** Archiving: until it is restored, an item is invisible to everything but permanent deletion. */
import { sql } from 'kysely';
import type { Tx } from '../../platform/database/database.ts';
import type { ContentId, OrganizationId } from '../../platform/values/ids.ts';
import { itemColumns, type ItemRow } from './item.ts';
import { touched } from './touched.ts';

/** Archives an item. Returns false if it does not exist or is already archived. */
export async function archiveItem(
  tx: Tx,
  organizationId: OrganizationId,
  contentId: ContentId,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('content')
    .set({ archived_at: sql<Date>`now()`, ...touched() })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('archived_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/**
 * Restores an item that was archived within the last `retentionMs`. It comes back unpublished, so
 * that nobody sees it before it has been reviewed.
 */
export async function restoreItem(
  tx: Tx,
  organizationId: OrganizationId,
  contentId: ContentId,
  retentionMs: number,
): Promise<ItemRow | null> {
  const row = await tx
    .updateTable('content')
    .set({ archived_at: null, publish_status: 'unpublished', ...touched() })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('archived_at', '>', archivedLimit(retentionMs))
    .returning(itemColumns)
    .executeTakeFirst();
  return row ?? null;
}

/** Items archived before this time can no longer be restored. */
export function archivedLimit(retentionMs: number) {
  return sql<Date>`now() - ${retentionMs} * interval '1 millisecond'`;
}
