/** Removes an erased viewer from the changes and differences in the audit log. */
import { inTransaction, type Db } from '../../platform/database/database.ts';
import type { Viewer } from '../../platform/feature/feature.ts';
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
    for (const { auditId, changes, differences } of found) {
      const kept = { changes: withoutId(changes, id), differences: withoutId(differences, id) };
      if (kept.changes === changes && kept.differences === differences) continue;
      await replaceChanges(tx, organizationId, { auditId, ...kept });
    }
  });
}
