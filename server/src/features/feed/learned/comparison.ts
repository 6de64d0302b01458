/**
 * Decides whether a model would have ordered held-out pages better than the weights, before it is
 * used. Each page is reordered by both. The gain of an item is its outcome divided by the
 * propensity of its place, and a page's value is its discounted gain relative to its best order.
 * Normalizing by the page's own inverse propensities keeps the estimate bounded (the
 * self-normalized estimator of Swaminathan and Joachims, "The Self-Normalized Estimator for
 * Counterfactual Learning", 2015).
 */

export type HeldOutItem = {
  readonly outcome: number;
  readonly propensity: number;
  readonly byWeights: number;
  readonly byModel: number;
};

export type ModelComparison = {
  /** Number of pages on which the two orders can be distinguished. */
  readonly pages: number;
  readonly weights: number;
  readonly learned: number;
  /** 95 % confidence interval of the mean difference per page. */
  readonly interval: readonly [low: number, high: number];
};

const z = 1.96;

export function compareOn(pages: readonly (readonly HeldOutItem[])[]): ModelComparison {
  let weights = 0;
  let learned = 0;
  const differences: number[] = [];
  for (const page of pages) {
    const best = gainOf(page, (item) => item.outcome / item.propensity);
    if (page.length < 2 || best <= 0) continue;
    const a = gainOf(page, (item) => item.byWeights) / best;
    const b = gainOf(page, (item) => item.byModel) / best;
    weights += a;
    learned += b;
    differences.push(b - a);
  }
  const count = differences.length;
  if (count < 2) return { pages: count, weights: 0, learned: 0, interval: [-1, 1] };
  const mean = (learned - weights) / count;
  const variance = differences.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (count - 1);
  const half = z * Math.sqrt(variance / count);
  return {
    pages: count,
    weights: weights / count,
    learned: learned / count,
    interval: [mean - half, mean + half],
  };
}

function gainOf(page: readonly HeldOutItem[], valueOf: (item: HeldOutItem) => number): number {
  const order = page.toSorted((a, b) => valueOf(b) - valueOf(a));
  let gain = 0;
  for (const [place, { outcome, propensity }] of order.entries()) {
    gain += outcome / propensity / Math.log2(place + 2);
  }
  return gain;
}
