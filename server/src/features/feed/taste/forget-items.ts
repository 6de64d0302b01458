/** Removes permanently deleted items from taste models. */
import { inTransaction, type Db } from '../../../platform/database/database.ts';
import type { DeletedItem } from '../../../platform/feature/feature.ts';
import { withoutItems } from './item-vectors.ts';
import { lockParts, replacePart } from './taste-queries.ts';

/**
 * Call it once no viewer's encounters refer to the items: a fit that has read them is discarded.
 */
export async function forgetItemsOfTaste(db: Db, items: readonly DeletedItem[]): Promise<void> {
  for (const [organizationId, own] of Map.groupBy(items, (item) => item.organizationId)) {
    const serialNumbers = new Set(own.map(({ serialNumber }) => serialNumber));
    await inTransaction(db, async (tx) => {
      for (const { part, bytes } of await lockParts(tx, organizationId)) {
        const kept = withoutItems(bytes, serialNumbers);
        if (kept !== null) await replacePart(tx, organizationId, part, kept);
      }
    });
  }
}
