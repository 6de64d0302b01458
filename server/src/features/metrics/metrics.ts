/**
 * Metrics that an organization defines over kinds of events, custom ones included. This is what other
 * features may use.
 */
import { extensionPoint } from '../../platform/extension-point.ts';
import type { Tx } from '../../platform/database/database.ts';

export { checkCondition } from './create-metric.ts';
export {
  fulfils,
  kindsOf,
  propertiesOf,
  unit as unitOfCounts,
  type Condition,
  type Direction,
  type MetricDefinition,
  type MetricType,
} from './definition.ts';
export { eventsOfMetric, holdMetrics, selectMetrics, type MetricRow } from './queries.ts';
export { versionAt } from './version-queries.ts';
export { Kind, metricNamePattern, Where } from './schemas.ts';

/** Finds what still uses a metric, in words that end the sentence "It is used by …"; null: nothing. */
export type MetricUse = (
  tx: Tx,
  organizationId: string,
  metricName: string,
) => Promise<string | null>;

/** Features that use metrics say so here, so that none is deleted while it is needed. */
export const metricUses = extensionPoint<MetricUse>('uses of metrics');
