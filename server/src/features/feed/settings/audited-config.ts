/** The audited fields of the ranking configuration and editorial rules. */
import type { AuditedResource } from '../../../platform/http/audited-resource.ts';
import { baseConfig, mergeConfig } from '../ranking/config.ts';
import { selectConfig, selectRule } from './settings-queries.ts';

export const auditedRankingConfig: AuditedResource = {
  path: '/v1/ranking/config',
  async read(tx, organizationId) {
    const row = await selectConfig(tx, organizationId);
    return mergeConfig(baseConfig, row?.config ?? {});
  },
};

export const auditedRankingRule: AuditedResource = {
  path: '/v1/ranking/rules/:id',
  async read(tx, organizationId, id) {
    const row = await selectRule(tx, organizationId, id);
    if (row === null) return null;
    const { type, match, factor, position, startsAt, endsAt } = row;
    return { type, match, factor, position, startsAt, endsAt };
  },
};
