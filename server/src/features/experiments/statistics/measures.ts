/** Measures a metric in the arms of an experiment, and compares two of them. */
import type { AnalysisPlan, ArmData } from './analysis.ts';
import { compareMeans, type Comparison } from './comparison.ts';
import { adjustByCovariate, ratioEstimate, type Estimate, type Sample } from './estimates.ts';
import { compareShares } from './shares.ts';

export type Measured = { units: number; value: number | null; enough: boolean };

type MeasuredEstimate = Measured & { estimate: Estimate | null };

/** A metric in each arm, in the order of the arms. */
export function measure(
  metric: string,
  arms: readonly ArmData[],
  plan: Pick<AnalysisPlan, 'minimumUnits' | 'minimumOutcomes'>,
): MeasuredEstimate[] {
  const samples = arms.map((arm) => sampleOf(metric, arm));
  const adjusted = adjustByCovariate(samples.flatMap((one) => (one?.kind === 'mean' ? [one] : [])));
  return samples.map((sample, index): MeasuredEstimate => {
    if (sample?.kind === 'share') {
      const { units, successes } = sample;
      const outcomes = Math.min(successes, units - successes);
      const enough = units >= plan.minimumUnits && outcomes >= plan.minimumOutcomes;
      return { units, value: units === 0 ? null : successes / units, enough, estimate: null };
    }
    const estimate = sample?.kind === 'ratio' ? ratioEstimate(sample) : (adjusted[index] ?? null);
    const units = estimate?.units ?? 0;
    const value = estimate === null || units === 0 ? null : estimate.mean;
    return { units, value, enough: units > 0 && units >= plan.minimumUnits, estimate };
  });
}

/** The data of a metric in one arm, or undefined for an unknown metric. */
function sampleOf(metric: string, arm: ArmData): Sample | undefined {
  switch (metric) {
    case 'completionRate':
      return { kind: 'ratio', ...arm.completionRate };
    case 'watchTime':
    case 'sessionsPerUser':
      return { kind: 'mean', ...arm[metric] };
    case 'retention':
      return { kind: 'share', ...arm.retention };
    default:
      return arm.own?.[metric];
  }
}

/** Compares two arms, given by index. Null if the metric cannot be compared. */
export function compareArms(
  metric: string,
  arms: readonly ArmData[],
  measured: readonly MeasuredEstimate[],
  [control, treatment]: readonly [number, number],
): Comparison | null {
  const [a, b] = [arms[control], arms[treatment]].map((arm) =>
    arm === undefined ? undefined : sampleOf(metric, arm),
  );
  if (a?.kind === 'share' && b?.kind === 'share') return compareShares(a, b);
  const [one, other] = [measured[control]?.estimate, measured[treatment]?.estimate];
  return one == null || other == null ? null : compareMeans(one, other);
}
