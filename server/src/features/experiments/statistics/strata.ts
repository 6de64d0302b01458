/**
 * An experiment whose traffic is raised admits viewers in periods, and viewers of different periods
 * differ. Arms are therefore compared within periods, and each period has the same weight in every
 * arm: post-stratification (D. Holt and T. M. F. Smith, "Post Stratification", 1979).
 *
 * The estimates of an arm are linear in its moments, so it is enough to replace these:
 *
 *   mean = Σ w_h mean_h,   covariance = n Σ w_h² covariance_h / n_h,   w_h = units of period h / units
 *
 * Then covariance / n is the variance of the stratified mean, and neither ratios, nor the covariate
 * adjustment, nor Welch's test need to know about periods.
 */
import type { ShareEstimate } from './estimates.ts';

/** Minimum units per arm in a stratum. Smaller periods are merged into the previous one. */
const leastUnits = 50;

/** The moments (means and covariances) of one arm in one period, by name. */
export type Stratum<Name extends string> = {
  readonly units: number;
  readonly moments: Readonly<Record<Name, number>>;
};

/**
 * Selects the period starts to keep, so that every stratum is large enough to estimate its
 * variance.
 *
 * @param units by period, then by arm; arms without units are left out
 * @returns indexes of periods that start a stratum; the first is always 0
 */
export function strataStarts(units: readonly (readonly number[])[]): number[] {
  const starts = [0];
  let current = units[0] ?? [];
  for (let period = 1; period < units.length; period += 1) {
    const own = units[period] ?? [];
    const isLarge = (counts: readonly number[]) => counts.every((count) => count >= leastUnits);
    const rest = units.slice(period).reduce(addEach);
    // The remaining periods must also be large enough for a stratum.
    if (isLarge(current) && isLarge(rest)) {
      starts.push(period);
      current = own;
    } else {
      current = addEach(current, own);
    }
  }
  return starts;
}

function addEach(some: readonly number[], others: readonly number[]): number[] {
  return some.map((count, index) => count + (others[index] ?? 0));
}

/**
 * The moments of each arm as if every period had the same share in it as in all arms together.
 *
 * @param arms by arm, then by stratum; every arm has units in every stratum, or none at all
 */
export function postStratify<Name extends string>(
  arms: readonly (readonly Stratum<Name>[])[],
  isMean: (name: Name) => boolean,
): (Stratum<Name> | null)[] {
  const sizes = sizesOf(arms);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return arms.map((strata) => {
    const [first] = strata;
    const units = strata.reduce((sum, stratum) => sum + stratum.units, 0);
    if (first === undefined || units === 0) return null;
    const valueOf = (name: Name) => {
      let sum = 0;
      for (const [place, stratum] of strata.entries()) {
        const weight = (sizes[place] ?? 0) / total;
        const value = stratum.moments[name];
        sum += isMean(name) ? weight * value : (units * weight ** 2 * value) / stratum.units;
      }
      return [name, sum] as const;
    };
    const names = Object.keys(first.moments) as Name[];
    return { units, moments: Object.fromEntries(names.map(valueOf)) as Record<Name, number> };
  });
}

function sizesOf(arms: readonly (readonly { readonly units: number }[])[]): number[] {
  const length = Math.max(0, ...arms.map((strata) => strata.length));
  return Array.from({ length }, (_, place) =>
    arms.reduce((sum, strata) => sum + (strata[place]?.units ?? 0), 0),
  );
}

/**
 * The same for shares: returns the units and successes that an unstratified arm would need for this
 * share and its variance.
 *
 * @param arms by arm, then by period
 */
export function postStratifyShares(arms: readonly (readonly ShareEstimate[])[]): ShareEstimate[] {
  const periods = Math.max(0, ...arms.map((shares) => shares.length));
  const present = arms.filter((shares) => shares.some(({ units }) => units > 0));
  const counts = Array.from({ length: periods }, (_, period) =>
    present.map((shares) => shares[period]?.units ?? 0),
  );
  const starts = strataStarts(counts);
  const joined = arms.map((shares) =>
    starts.map((from, index) => sumOf(shares.slice(from, starts[index + 1]))),
  );
  const sizes = sizesOf(joined);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return joined.map((shares) => {
    const all = sumOf(shares);
    if (shares.length < 2 || all.units === 0) return all;
    let [share, variance] = [0, 0];
    for (const [place, { units, successes }] of shares.entries()) {
      const weight = (sizes[place] ?? 0) / total;
      const own = successes / units;
      share += weight * own;
      variance += (weight ** 2 * own * (1 - own)) / units;
    }
    const units = variance > 0 ? (share * (1 - share)) / variance : all.units;
    return { units, successes: share * units };
  });
}

function sumOf(shares: readonly ShareEstimate[]): ShareEstimate {
  return {
    units: shares.reduce((sum, { units }) => sum + units, 0),
    successes: shares.reduce((sum, { successes }) => sum + successes, 0),
  };
}
