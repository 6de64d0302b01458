/** The last stage of the results: an analysis in the format of the API. */
import { formatTimestamp } from '../../platform/values/time.ts';
import type { ExposureCount } from './assignments/exposure-queries.ts';
import { planOf, type ExperimentRow } from './experiment.ts';
import { unevenSegments } from './segments.ts';
import type { Analysis, MetricResult } from './statistics/analysis.ts';
import type { GuardrailPlan } from './statistics/guardrails.ts';
import type { Monitoring } from './statistics/monitoring.ts';
import { sampleFactor } from './statistics/power.ts';
import { daysSinceStart } from './analyse-arms.ts';

export type Results = ReturnType<typeof presentResults>;

/** The results of the earlier stages. */
export type Found = {
  analysis: Analysis;
  participants: readonly number[];
  exposures: readonly ExposureCount[];
  monitoring: Monitoring;
};

export function presentResults(row: ExperimentRow, asOf: Date, found: Found) {
  const { arms, recommendation, sampleRatio } = found.analysis;
  const { winnerIndex, ...rest } = recommendation;
  return {
    ...presentFraming(row, asOf),
    asOf: row.started_at === null ? null : formatTimestamp(asOf),
    inference: inferenceOf(row, found),
    variants: row.variants.map(({ id, name }, index) => ({
      id,
      name,
      participants: found.participants[index] ?? 0,
      metrics: Object.fromEntries(
        Object.entries(arms[index]?.metrics ?? {}).map(([metric, result]) => [
          metric,
          presentMetric(result),
        ]),
      ),
    })),
    recommendation: {
      winner: winnerIndex === null ? null : (row.variants[winnerIndex]?.id ?? null),
      ...rest,
    },
    guardrails: presentGuardrails(row, found.analysis),
    health: {
      srm: { ...sampleRatio, segments: unevenSegments(row.variants, found.exposures) },
      unitsInSeveralVariants: found.exposures.reduce((sum, { crossed }) => sum + crossed, 0),
    },
  };
}

/** The kind of inference. Doing without a planned end requires more participants. */
function inferenceOf(row: ExperimentRow, { monitoring, participants }: Found) {
  if (row.ends_at !== null) return { kind: 'planned_end' as const, sampleFactor: null };
  const { alpha } = planOf(row);
  const units = (2 * participants.reduce((sum, each) => sum + each, 0)) / participants.length;
  const factor = units < 2 ? null : sampleFactor(monitoring.nominalLevel(alpha, units), alpha);
  return { kind: 'always_valid' as const, sampleFactor: factor };
}

type GuardedVariant = {
  readonly id: string;
  readonly status: 'passed' | 'harmed' | 'undecided';
  readonly lift: number | null;
  readonly liftInterval: readonly [number, number] | null;
  readonly harmedAt: string | null;
};
type Guarded = GuardrailPlan & { readonly variants: readonly GuardedVariant[] };

function presentGuardrails(row: ExperimentRow, { guardrails }: Analysis): Guarded[] {
  return guardrails.map(({ metric, margin, arms }) => ({
    metric,
    margin,
    variants: row.variants.flatMap(({ id }, index) => {
      const arm = arms[index];
      if (arm == null) return [];
      const { isPassed, lift, liftInterval } = arm;
      const status = isPassed ? 'passed' : 'undecided';
      return [{ id, status, lift, liftInterval, harmedAt: null }];
    }),
  }));
}

/** The fields that do not depend on an analysis. */
export function presentFraming(row: ExperimentRow, asOf: Date) {
  return {
    experimentId: row.experiment_id,
    status: row.status,
    duration: {
      days: daysSinceStart(row, asOf),
      startedAt: formatTimestamp(row.started_at),
    },
  };
}

/**
 * Results with the harms that the guardrail watch has found, which does not wait for the next look.
 */
export function withHarms(results: Results, { harms }: Pick<ExperimentRow, 'harms'>): Results {
  if (harms.length === 0) return results;
  return {
    ...results,
    guardrails: results.guardrails.map((guardrail) => ({
      ...guardrail,
      variants: guardrail.variants.map((variant): GuardedVariant => {
        const harm = harms.find(
          (one) => one.metric === guardrail.metric && one.variant === variant.id,
        );
        if (harm === undefined) return variant;
        const { lift, liftInterval, at: harmedAt } = harm;
        return { ...variant, status: 'harmed' as const, lift, liftInterval, harmedAt };
      }),
    })),
  };
}

/** A metric as presented. Its minimum detectable effect appears only in the recommendation. */
function presentMetric(result: MetricResult): object {
  const { minimumDetectableEffect: _, ...rest } = { minimumDetectableEffect: null, ...result };
  return rest;
}
