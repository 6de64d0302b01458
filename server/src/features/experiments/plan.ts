/**
 * Estimates the size and duration that an experiment needs, from the current behaviour of viewers.
 */
import type { Db } from '../../platform/database/database.ts';
import { readBaseline, type BaselineRow } from './plan-queries.ts';
import type { BuiltInMetric } from './statistics/metric-names.ts';
import { ratioEstimate } from './statistics/estimates.ts';
import { requiredUnits } from './statistics/power.ts';

export type PlanQuestion = {
  readonly metric: BuiltInMetric;
  /** Relative. */
  readonly effect: number;
  readonly variants: number;
  readonly traffic: number;
  readonly power: number;
  readonly alpha: number;
};

/** In whole weeks every weekday counts the same. */
const leastDays = 7;

export async function planExperiment(
  db: Db,
  organizationId: string,
  question: PlanQuestion,
  /** The share of viewers that the experiment would include. */
  audienceShare: number,
) {
  const row = await readBaseline(db, organizationId);
  const { mean, variance } = baselineOf(row, question.metric);
  const unitsPerDay = row.units === 0 ? 0 : (row.units / row.days) * audienceShare;
  const baseline = {
    mean,
    standardDeviation: variance === null ? null : Math.sqrt(variance),
    unitsPerDay,
  };
  const none = { baseline, unitsPerVariant: null, days: null };
  if (mean === null || variance === null || unitsPerDay === 0)
    return { ...none, reason: 'no_data' };
  if (mean === 0) return { ...none, reason: 'zero_baseline' };
  if (variance === 0) return { ...none, reason: 'zero_variance' };
  const difference = mean * question.effect;
  const treated = Math.min(1, mean + difference);
  const units = requiredUnits({
    difference,
    controlVariance: variance,
    treatmentVariance: question.metric === 'retention' ? treated * (1 - treated) : variance,
    // The treatments share alpha: see statistics/holm.ts.
    alpha: question.alpha / (question.variants - 1),
    power: question.power,
  });
  const unitsPerVariant = Math.max(2, Math.ceil(units));
  const perDay = unitsPerDay * question.traffic;
  const days = Math.max(leastDays, Math.ceil((unitsPerVariant * question.variants) / perDay));
  return { baseline, unitsPerVariant, days, reason: null };
}

type Baseline = { mean: number | null; variance: number | null };

function baselineOf(row: BaselineRow, metric: BuiltInMetric): Baseline {
  switch (metric) {
    case 'watchTime':
      return { mean: row.watch_mean, variance: row.watch_variance };
    case 'sessionsPerUser':
      return { mean: row.sessions_mean, variance: row.sessions_variance };
    case 'completionRate':
      return completionBaseline(row);
    case 'retention': {
      if (row.matured === 0) return { mean: null, variance: null };
      const share = row.returned / row.matured;
      return { mean: share, variance: share * (1 - share) };
    }
    default:
      return metric satisfies never;
  }
}

function completionBaseline(row: BaselineRow): Baseline {
  const estimate = ratioEstimate({
    units: row.units,
    numerator: { mean: row.completions_mean ?? 0, variance: row.completions_variance ?? 0 },
    denominator: { mean: row.plays_mean ?? 0, variance: row.plays_variance ?? 0 },
    covariance: row.plays_completions ?? 0,
  });
  return { mean: estimate?.mean ?? null, variance: estimate?.variance ?? null };
}
