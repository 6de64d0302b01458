/** Per-arm data of an organization's custom metrics. */
import type { Db } from '../../platform/database/database.ts';
import type { ExperimentRow } from './experiment.ts';
import { readOwnMetrics } from './own-metrics.ts';
import type { Sample } from './statistics/estimates.ts';
import { kindOf, selectValues, type MeasuredMetric } from './units/value-queries.ts';

type Samples = Record<string, Sample>;

/** By arm, then by metric name; null if the experiment uses no custom metric. */
export async function ownSamples(
  db: Db,
  row: ExperimentRow,
  until: Date,
): Promise<Samples[] | null> {
  const metrics = await readOwnMetrics(db, row);
  if (metrics.length === 0) return null;
  const arms: Samples[] = row.variants.map(() => ({}));
  for (const metric of metrics) {
    const found = await selectValues(db, {
      experimentNumber: row.number,
      metric,
      until,
      lastDay: until,
      after: null,
      isPast: false,
      capMs: Infinity,
      segment: null,
    });
    for (const [index, samples] of arms.entries()) {
      const own = found.find(({ variant }) => variant === index);
      samples[metric.name] = own?.sample ?? emptySample(metric);
    }
  }
  return arms;
}

const nobody = { mean: 0, variance: 0 };

/** The data of an arm without units. */
export function emptySample(metric: MeasuredMetric): Sample {
  const kind = kindOf(metric);
  switch (kind) {
    case 'share':
      return { kind, units: 0, successes: 0 };
    case 'ratio':
      return { kind, units: 0, numerator: nobody, denominator: nobody, covariance: 0 };
    case 'mean':
      return { kind, units: 0, outcome: nobody, covariate: nobody, covariance: 0 };
    default:
      return kind satisfies never;
  }
}
