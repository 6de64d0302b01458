/** Takes an erased viewer out of the changes that the audit log keeps. */
import { inTransaction, type Db } from '../../platform/database/database.ts';
import type { Viewer } from '../../platform/feature.ts';
import { erasedId, withoutId } from '../events/events.ts';
import { replaceChanges, selectChangesWith } from './queries.ts';

export async function forgetViewerInAudit(
  db: Db,
  { organizationId, userId }: Viewer,
): Promise<void> {
  const id = erasedId(userId, '');
  const texts = [JSON.stringify(userId), ...(id.number === null ? [] : [String(id.number)])];
  const found = await selectChangesWith(db, organizationId, texts);
  await inTransaction(db, async (tx) => {
    for (const { auditId, changes } of found) {
      const kept = withoutId(changes, id);
      if (kept !== changes) await replaceChanges(tx, organizationId, { auditId, changes: kept });
    }
  });
}
