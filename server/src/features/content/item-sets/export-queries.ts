import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { itemColumns, type ItemRow } from '../item.ts';

/** An item in the export format. */
export type ExportedItem = ItemRow;

/** A page of items created in a time range, including archived ones, in id order. */
export async function listForExport(
  db: Db,
  organizationId: OrganizationId,
  range: { createdFrom: Date; createdBefore: Date },
  page: { after: string | null; limit: number },
): Promise<ExportedItem[]> {
  let query = db
    .selectFrom('content')
    .select(itemColumns)
    .where('organization_id', '=', organizationId)
    .where('created_at', '>=', range.createdFrom)
    .where('created_at', '<', range.createdBefore);
  if (page.after !== null) query = query.where('content_id', '>', page.after);
  return query.orderBy('content_id').limit(page.limit).execute();
}
