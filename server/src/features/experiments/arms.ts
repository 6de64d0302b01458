/** Converts the arms of an experiment into the input of the statistics. */
import type { Db } from '../../platform/database/database.ts';
import { countExposures, unitsOf, type ExposureCount } from './assignments/exposure-queries.ts';
import { planOf, type ExperimentRow, type Variant } from './experiment.ts';
import type { ArmData } from './statistics/analysis.ts';
import { ownSamples } from './own-samples.ts';
import { postStratify, postStratifyShares, strataStarts } from './statistics/strata.ts';
import { countByPeriod, selectArms, watchCap, type ArmRow } from './units/arm-queries.ts';
import { dayMs } from '../../platform/values/time.ts';

/** Retention covers the second day after exposure, which must be over. */
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
  const periods = await readPeriods(db, row);
  const found = await selectArms(db, row.number, { capMs, maturedBefore, periods });
  const own = await ownSamples(db, row, asOf);
  return {
    arms: armsOfRows(row, found, (index) => unitsOf(exposures, index)).map((arm, index) =>
      own === null ? arm : { ...arm, own: own[index] ?? {} },
    ),
    exposures,
  };
}

/** Times at which traffic was raised, except raises with too few units before the next one. */
async function readPeriods(db: Db, row: ExperimentRow): Promise<Date[]> {
  const raised = raisesOf(row);
  if (raised.length === 0) return raised;
  return largePeriods(row, raised, await countByPeriod(db, row.number, raised));
}

export function raisesOf(row: ExperimentRow): Date[] {
  return (planOf(row).earlierTraffic ?? []).map(({ raisedAt }) => new Date(raisedAt));
}

export function largePeriods(
  { variants }: ExperimentRow,
  raised: readonly Date[],
  counts: readonly { variant: number; period: number; units: number }[],
): Date[] {
  const taking = [...variants.keys()].filter((index) => (variants[index]?.traffic ?? 0) > 0);
  const byPeriod = Array.from({ length: raised.length + 1 }, (_, period) =>
    taking.map(
      (variant) =>
        counts.find((each) => each.variant === variant && each.period === period)?.units ?? 0,
    ),
  );
  // The first stratum starts with the experiment.
  return strataStarts(byPeriod).flatMap((period) => raised[period - 1] ?? []);
}

/** @param assigned number of units first given each variant, by variant index */
export function armsOfRows(
  { variants }: ExperimentRow,
  rows: readonly ArmRow[],
  assigned: (index: number) => number,
): ArmData[] {
  const sums = variants.map((_, index) =>
    rows.filter(({ variant }) => variant === index).toSorted((a, b) => a.period - b.period),
  );
  const joined = joinPeriods(sums);
  return variants.map((variant, index) => armOf(variant, assigned(index), joined[index]));
}

/** Joins the periods of each arm. An arm lacks a period if all its units saw several variants. */
function joinPeriods(arms: readonly (readonly ArmRow[])[]): (ArmRow | undefined)[] {
  const periods = Math.max(...arms.map((strata) => strata.length));
  const isStratified =
    periods > 1 && arms.every(({ length }) => length === 0 || length === periods);
  if (!isStratified) return arms.map((strata) => strata[0]);
  const joined = postStratify(
    arms.map((strata) => strata.map((stratum) => ({ units: stratum.units, moments: stratum }))),
    (name) => name.endsWith('_mean'),
  );
  const shares = postStratifyShares(
    arms.map((strata) =>
      strata.map(({ matured, returned }) => ({ units: matured, successes: returned })),
    ),
  );
  return joined.map((arm, index) => {
    const share = shares[index];
    if (arm === null || share === undefined) return undefined;
    const { units, moments } = arm;
    return { ...moments, units, matured: share.units, returned: share.successes };
  });
}

/** @param sums undefined for an arm without units */
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
