import type { AuditedResource } from '../../platform/http/audited-resource.ts';
import { parseTypeId } from '../../platform/values/ids.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import { readHoldout } from './holdout.ts';
import { findExperiment } from './queries.ts';

export const auditedExperiment: AuditedResource = {
  path: '/v1/experiments/:id',
  async read(tx, organizationId, id) {
    const experimentId = parseTypeId('exp', id);
    const row = experimentId && (await findExperiment(tx, organizationId, experimentId));
    if (row === null) return null;
    return {
      name: row.name,
      description: row.description,
      status: row.status,
      type: row.type,
      traffic: row.traffic,
      variants: row.variants,
      metrics: row.metrics,
      primaryMetric: row.primary_metric,
      guardrails: row.guardrails,
      endsAt: formatTimestamp(row.ends_at),
      hypothesis: row.hypothesis,
      tags: row.tags,
      group: row.exclusion_group,
      forcedVariants: row.forced_variants,
      targeting: row.targeting,
    };
  },
};

export const auditedHoldout: AuditedResource = {
  path: '/v1/experiments/holdout',
  read: async (tx, organizationId) => ({ traffic: await readHoldout(tx, organizationId) }),
};
