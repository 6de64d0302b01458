/** Converts the arms of an experiment to the input of the statistics. */
import type { Db } from '../../platform/database/database.ts';
import { countExposures, unitsOf, type ExposureCount } from './assignments/exposure-queries.ts';
import type { ExperimentRow, Variant } from './experiment.ts';
import type { ArmData } from './statistics/analysis.ts';
import { selectArms, watchCap, type ArmRow } from './units/arm-queries.ts';
import { ownSamples } from './own-samples.ts';
import { dayMs } from '../../platform/time.ts';

/** Retention asks about the second day after the exposure, which must be over. */
export const maturityMs = 2 * dayMs;

export type Arms = {
  readonly arms: ArmData[];
  readonly exposures: readonly ExposureCount[];
};

export async function readArms(db: Db, row: ExperimentRow, asOf: Date): Promise<Arms> {
  const exposures = await countExposures(db, row.number);
  const units = exposures.reduce((sum, { units: count }) => sum + count, 0);
  const capMs = await watchCap(db, row.number, units);
  const maturedBefore = new Date(asOf.getTime() - maturityMs);
  const found = await selectArms(db, row.number, { capMs, maturedBefore });
  const own = await ownSamples(db, row, asOf);
  return {
    arms: row.variants.map((variant, index) => ({
      ...armOf(
        variant,
        unitsOf(exposures, index),
        found.find((each) => each.variant === index),
      ),
      ...(own !== null && { own: own[index] ?? {} }),
    })),
    exposures,
  };
}

/** @param sums undefined for an arm without a unit */
export function armOf({ id, traffic }: Variant, assigned: number, sums?: ArmRow): ArmData {
  return { variantId: id, weight: traffic, assigned, ...toSamples(sums) };
}

const nobody = { mean: 0, variance: 0 };
const noSample = { units: 0, outcome: nobody, covariate: nobody, covariance: 0 };

function toSamples(
  row: ArmRow | undefined,
): Pick<ArmData, 'completionRate' | 'watchTime' | 'sessionsPerUser' | 'retention'> {
  if (row === undefined) {
    return {
      completionRate: { units: 0, numerator: nobody, denominator: nobody, covariance: 0 },
      watchTime: noSample,
      sessionsPerUser: noSample,
      retention: { units: 0, successes: 0 },
    };
  }
  const { units } = row;
  return {
    completionRate: {
      units,
      numerator: { mean: row.completions_mean, variance: row.completions_variance },
      denominator: { mean: row.plays_mean, variance: row.plays_variance },
      covariance: row.plays_completions,
    },
    watchTime: {
      units,
      outcome: { mean: row.watch_mean, variance: row.watch_variance },
      covariate: { mean: row.earlier_watch_mean, variance: row.earlier_watch_variance },
      covariance: row.watch_covariance,
    },
    sessionsPerUser: {
      units,
      outcome: { mean: row.sessions_mean, variance: row.sessions_variance },
      covariate: { mean: row.earlier_sessions_mean, variance: row.earlier_sessions_variance },
      covariance: row.sessions_covariance,
    },
    retention: { units: row.matured, successes: row.returned },
  };
}
