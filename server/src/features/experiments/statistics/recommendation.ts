/** Recommends a variant, if any. */
import type { AnalysisPlan, MetricTest, Reason, TreatmentResult } from './analysis.ts';
import type { GuardrailResult } from './guardrails.ts';

export type Recommendation = {
  readonly winnerIndex: number | null;
  /**
   * The confidence of the winner's comparison, or without a winner the highest one of the primary
   * metric.
   */
  readonly confidence: number;
  /** The largest relative effect over the treatments, for the primary metric. */
  readonly minimumDetectableEffect: number | null;
  /** Why there is no winner. */
  readonly reason: Reason | null;
};

/**
 * The winner is a treatment that is significantly better in the primary metric, significantly worse
 * in none, and has passed every guardrail. Of several, it is the one with the highest lower bound
 * of the lift. The control wins if every treatment is significantly worse.
 */
export function recommend(
  tests: readonly MetricTest[],
  guardrails: readonly GuardrailResult[],
  plan: AnalysisPlan,
  withheld: Reason | null,
): Recommendation {
  const primary = tests.find(({ metric }) => metric === plan.primaryMetric);
  const results = primary?.results ?? [];
  const treatments = results.flatMap((result, index) =>
    result === null ? [] : [{ index, result }],
  );
  const confidence = Math.max(0, ...treatments.map(({ result }) => result.confidence));
  const effects = treatments.map(({ result }) => result.minimumDetectableEffect);
  const known = effects.filter((effect) => effect !== null);
  const minimumDetectableEffect = known.length === 0 ? null : Math.max(...known);
  const none = { winnerIndex: null, confidence, minimumDetectableEffect };
  if (withheld !== null) return { ...none, reason: withheld };

  const isLess = (metric: string) => plan.decreasing?.has(metric) === true;
  const isPrimaryLess = isLess(plan.primaryMetric);
  const better = treatments.filter(
    ({ result }) => result.significant && isBetter(result, isPrimaryLess),
  );
  const harmless = better.filter(
    ({ index }) =>
      !tests.some((test) => isWorse(test, index, isLess(test.metric))) &&
      guardrails.every(({ arms }) => arms[index]?.isPassed === true),
  );
  const [best] = harmless.toSorted(
    (a, b) => leastOf(b.result, isPrimaryLess) - leastOf(a.result, isPrimaryLess),
  );
  if (best !== undefined) {
    const { index, result } = best;
    return { ...none, winnerIndex: index, confidence: result.confidence, reason: null };
  }
  if (better.length > 0) return { ...none, reason: 'guardrail' };
  const allWorse = treatments.every(
    ({ result }) => result.significant && !isBetter(result, isPrimaryLess),
  );
  if (allWorse && treatments.length > 0) {
    return { ...none, winnerIndex: results.indexOf(null), reason: null };
  }
  const reasons = treatments.map(({ result }) => result.reason).filter((reason) => reason !== null);
  const isUntested = treatments.every(({ result }) => result.pValue === null);
  return { ...none, reason: (isUntested ? reasons[0] : undefined) ?? 'not_significant' };
}

function isBetter({ interval }: TreatmentResult, isLess: boolean): boolean {
  return interval !== null && (isLess ? interval[1] < 0 : interval[0] > 0);
}

function isWorse({ results }: MetricTest, index: number, isLess: boolean): boolean {
  const result = results[index];
  return result != null && result.significant && !isBetter(result, isLess);
}

/** The smallest improvement within the interval, or the difference if the lift is unbounded. */
function leastOf({ liftInterval, interval }: TreatmentResult, isLess: boolean): number {
  const bounds = liftInterval ?? interval;
  if (bounds === null) return -Infinity;
  return isLess ? -bounds[1] : bounds[0];
}
