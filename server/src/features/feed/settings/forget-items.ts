/** Removes the editorial rules about permanently deleted items. */
import { inTransaction, type Db } from '../../../platform/database/database.ts';
import type { DeletedItem } from '../../../platform/feature/feature.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { recordAudit } from '../../audit/audit.ts';
import { bumpRevision, deleteRule, selectRulesOfItems } from './settings-queries.ts';

export async function forgetItemsInRules(db: Db, items: readonly DeletedItem[]): Promise<void> {
  for (const [organization, own] of Map.groupBy(items, (item) => item.organizationId)) {
    const organizationId = organization as OrganizationId;
    const contentIds = own.map(({ contentId }) => contentId);
    await inTransaction(db, async (tx) => {
      const ruleIds = await selectRulesOfItems(tx, organizationId, contentIds);
      if (ruleIds.length === 0) return;
      await bumpRevision(tx, organizationId);
      const action = 'deleteRankingRule';
      for (const resourceId of ruleIds) {
        if (!(await deleteRule(tx, organizationId, resourceId))) continue;
        await recordAudit(tx, { organizationId, actor: { type: 'service' }, action, resourceId });
      }
    });
  }
}
