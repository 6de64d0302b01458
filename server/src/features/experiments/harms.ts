/** Decides which guardrails of an experiment are harmed, and which of these harms are new. */
import { controlOf, planOf, type ExperimentRow } from './experiment.ts';
import { alwaysValid } from './statistics/always-valid.ts';
import { testGuardrails, type ArmData } from './statistics/analysis.ts';
import { findHarms } from './statistics/guardrails.ts';
import { checkSampleRatio } from './statistics/sample-ratio.ts';

export type Harmed = {
  readonly metric: string;
  readonly variant: string;
  readonly at: string;
  readonly lift: number;
  readonly liftInterval: readonly [number, number];
};

/** @param decreasing metrics for which lower is better */
export function harmsOf(
  row: ExperimentRow,
  arms: readonly ArmData[],
  decreasing: ReadonlySet<string>,
  now: Date,
): Harmed[] {
  // A sample ratio mismatch makes the figures meaningless.
  if (!checkSampleRatio(arms.map(({ assigned, weight }) => ({ units: assigned, weight }))).ok) {
    return [];
  }
  const { alpha, tunedTo, minimumUnits, minimumOutcomes } = planOf(row);
  const plan = {
    alpha,
    minimumUnits,
    minimumOutcomes,
    guardrails: row.guardrails,
    decreasing,
    controlId: controlOf(row.variants).id,
  };
  return findHarms(testGuardrails(arms, plan, null), plan, alwaysValid({ tunedTo, alpha })).map(
    ({ metric, armIndex, lift, liftInterval }) => ({
      metric,
      variant: row.variants[armIndex]?.id ?? '',
      at: now.toISOString(),
      lift,
      liftInterval,
    }),
  );
}

/** The harms that the experiment does not list yet: one per metric and variant. */
export function freshHarms(
  { harms: known }: Pick<ExperimentRow, 'harms'>,
  harms: readonly Harmed[],
): Harmed[] {
  return harms.filter(
    ({ metric, variant }) =>
      !known.some((harm) => harm.metric === metric && harm.variant === variant),
  );
}
