/**
 * Custom metrics that an organization defines over event kinds, including custom ones. This file is
 * the interface for other features.
 */
import { extensionPoint } from '../../platform/feature/extension-point.ts';
import type { Tx } from '../../platform/database/database.ts';

export { checkCondition } from './create-metric.ts';
export {
  fulfils,
  kindsOf,
  propertiesRead,
  unit as unitOfCounts,
  type Condition,
  type Direction,
  type MetricDefinition,
  type MetricType,
} from './definition.ts';
export { eventsOfMetric, holdMetrics, selectMetrics, type MetricRow } from './queries.ts';
export { versionAt } from './version-queries.ts';
export { Kind, metricNamePattern, Where } from './schemas.ts';

/**
 * Finds what still uses a metric, worded to complete "The metric is used by …", or null if nothing
 * does.
 */
export type MetricUse = (
  tx: Tx,
  organizationId: string,
  metricName: string,
) => Promise<string | null>;

/** Features that use metrics register here, so that no metric is deleted while it is in use. */
export const metricUses = extensionPoint<MetricUse>('uses of metrics');
