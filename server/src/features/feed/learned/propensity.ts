/**
 * The probability that a viewer looks at a place of a page at all. Items lower on a page are seen
 * by fewer viewers regardless of quality; a model that mistook this for dislike would learn the
 * order that it was shown.
 *
 * Places of exploration are drawn at random over the page (`ranking/exploration.ts`), so items that
 * few viewers have encountered appear equally often at all places, and differences in looks are due
 * to the place. This is the propensity of Joachims, Swaminathan and Schnabel ("Unbiased Learning-to-Rank
 * with Biased Feedback", 2017), estimated from randomized placements instead of a separate
 * experiment.
 */

export type Look = { readonly position: number; readonly isLookedAt: boolean };

/** All places from here on share one propensity, because few sessions get this far. */
export const placesTold = 30;
/** Weight of the prior for each place, in looks; its mean is the overall rate. */
const priorLooks = 40;
/** Clips weights at the inverse of this, as is usual, so that no single sample dominates. */
export const leastPropensity = 0.1;

/** The share of items looked at by place, relative to the first place. */
export function propensitiesOf(looks: readonly Look[]): Float64Array {
  const shown = new Float64Array(placesTold);
  const lookedAt = new Float64Array(placesTold);
  for (const { position, isLookedAt } of looks) {
    const place = tableRowOf(position);
    shown[place] = (shown[place] ?? 0) + 1;
    if (isLookedAt) lookedAt[place] = (lookedAt[place] ?? 0) + 1;
  }
  const all = sumOf(shown);
  const usual = all > 0 ? sumOf(lookedAt) / all : 1;
  const rates = shown.map(
    (count, place) => ((lookedAt[place] ?? 0) + priorLooks * usual) / (count + priorLooks),
  );
  const first = Math.max(rates[0] ?? 1, 1e-9);
  return rates.map((rate) => Math.min(1, Math.max(leastPropensity, rate / first)));
}

export function tableRowOf(position: number): number {
  return Math.min(Math.max(0, Math.floor(position)), placesTold - 1);
}

function sumOf(values: Float64Array): number {
  return values.reduce((sum, one) => sum + one, 0);
}
