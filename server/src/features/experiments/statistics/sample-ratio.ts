/**
 * Checks that the sizes of the arms match their weights. If they do not, something removes units
 * from one arm and no comparison can be trusted: Fabijan et al., "Diagnosing Sample Ratio Mismatch
 * in Online Controlled Experiments", 2019.
 */
import { chiSquareUpper } from './tails.ts';

export type SampleRatio = { readonly pValue: number; readonly ok: boolean };

/** At this level, daily checks for a month raise a false alarm in 0.9 % of sound experiments. */
const alarmBelow = 0.001;
const leastUnits = 100;
const leastExpected = 5;

/**
 * Pearson's chi-square test of counts against weights. Arms without weight are ignored.
 *
 * @param tests number of simultaneous tests; p-values are multiplied by it
 */
export function checkSampleRatio(
  arms: readonly { readonly units: number; readonly weight: number }[],
  tests = 1,
): SampleRatio {
  const taking = arms.filter(({ weight }) => weight > 0);
  const total = taking.reduce((sum, { units }) => sum + units, 0);
  const weights = taking.reduce((sum, { weight }) => sum + weight, 0);
  if (total === 0 || taking.length < 2) return { pValue: 1, ok: true };
  const expected = taking.map(({ weight }) => (weight / weights) * total);
  const statistic = taking.reduce((sum, { units }, index) => {
    const share = expected[index] ?? 0;
    return sum + (units - share) ** 2 / share;
  }, 0);
  const pValue = Math.min(1, tests * chiSquareUpper(statistic, taking.length - 1));
  const isJudged = total >= leastUnits && Math.min(...expected) >= leastExpected;
  return { pValue, ok: !isJudged || pValue >= alarmBelow };
}
