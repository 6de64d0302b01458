/**
 * Multiple comparisons: S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979.
 */

export type HolmDecision = {
  readonly adjusted: number;
  /**
   * The level at which this comparison was judged. An interval at this level excludes zero exactly
   * when the adjusted p-value is below alpha. Comparisons after the first failure are judged at the
   * level of that failure.
   */
  readonly level: number;
};

/** Decisions in the order of the p-values. */
export function holm(pValues: readonly number[], alpha: number): HolmDecision[] {
  const order = pValues
    .map((pValue, index) => ({ pValue, index }))
    .toSorted((a, b) => a.pValue - b.pValue);
  const decisions: HolmDecision[] = pValues.map(() => ({ adjusted: 1, level: alpha }));
  let adjusted = 0;
  let failedAt: number | null = null;
  for (const [rank, { pValue, index }] of order.entries()) {
    const factor = pValues.length - rank;
    adjusted = Math.max(adjusted, Math.min(1, pValue * factor));
    const level: number = failedAt ?? alpha / factor;
    if (failedAt === null && !(adjusted < alpha)) failedAt = level;
    decisions[index] = { adjusted, level };
  }
  return decisions;
}
