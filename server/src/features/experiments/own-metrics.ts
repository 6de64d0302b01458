/** Custom metrics of organizations, as used by experiments. */
import type { Db, Tx } from '../../platform/database/database.ts';
import { holdMetrics, selectMetrics, type MetricRow } from '../metrics/metrics.ts';
import type { ErrorDetail } from '../../platform/http/errors.ts';
import type { ExperimentRow } from './experiment.ts';
import type { ExperimentValues } from './queries.ts';
import { isBuiltIn, metricNames } from './statistics/metric-names.ts';

/** Every metric that an experiment uses, including guardrails. */
export function metricsNamed({
  metrics,
  guardrails,
}: Pick<ExperimentRow, 'metrics' | 'guardrails'>): string[] {
  return [...new Set([...metrics, ...guardrails.map(({ metric }) => metric)])];
}

/** The definitions of the custom metrics that an experiment uses. */
export async function readOwnMetrics(
  db: Db,
  row: Pick<ExperimentRow, 'organization_id' | 'metrics' | 'guardrails'>,
): Promise<MetricRow[]> {
  const named = metricsNamed(row).filter((metric) => !isBuiltIn(metric));
  if (named.length === 0) return [];
  return (await selectMetrics(db, row.organization_id)).filter(({ name }) => named.includes(name));
}

/** Metrics for which lower is better. */
export function decreasingOf(own: readonly MetricRow[]): ReadonlySet<string> {
  return new Set(
    own.filter(({ definition }) => definition.direction === 'decrease').map(({ name }) => name),
  );
}

/**
 * Problems with the metrics named in a request. Locks the existing ones until the transaction ends.
 */
export async function problemsOfMetrics(
  tx: Tx,
  organizationId: string,
  { metrics, primaryMetric, guardrails }: ExperimentValues,
): Promise<ErrorDetail[]> {
  const named = metricsNamed({ metrics, guardrails });
  const own = await holdMetrics(
    tx,
    organizationId,
    named.filter((metric) => !isBuiltIn(metric)),
  );
  const known = new Set<string>([...metricNames, ...own.map(({ name }) => name)]);
  const unknown = (metric: string, path: string) =>
    known.has(metric)
      ? []
      : [
          {
            path,
            message: `must be one of ${metricNames.join(', ')}, or a metric that you have defined`,
          },
        ];
  const details = [
    ...metrics.flatMap((metric, index) => unknown(metric, `metrics[${index}]`)),
    ...guardrails.flatMap(({ metric }, index) => unknown(metric, `guardrails[${index}].metric`)),
  ];
  const seen = new Set<string>([...metrics, primaryMetric]);
  for (const [index, { metric }] of guardrails.entries()) {
    const path = `guardrails[${index}].metric`;
    if (seen.has(metric)) details.push({ path, message: `"${metric}" is listed more than once` });
    seen.add(metric);
  }
  return details;
}
