/** What the audit log compares of the ranking configuration. */
import type { AuditedResource } from '../../../platform/http/audited-resource.ts';
import { baseConfig, mergeConfig } from '../ranking/config.ts';
import { selectConfig } from './settings-queries.ts';

export const auditedRankingConfig: AuditedResource = {
  path: '/v1/ranking/config',
  async read(tx, organizationId) {
    const row = await selectConfig(tx, organizationId);
    return mergeConfig(baseConfig, row?.config ?? {});
  },
};
