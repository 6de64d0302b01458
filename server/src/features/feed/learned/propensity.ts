/**
 * How likely a place of a page is looked at at all. Items lower on a page are met by fewer viewers,
 * whatever they are, and a model that took that for dislike would learn the order that it was shown.
 *
 * Places of exploration are drawn at random over the page (`ranking/exploration.ts`), so items that few
 * have met stand everywhere alike: how often they are looked at by place is the place's doing. This is the
 * propensity of Joachims, Swaminathan and Schnabel ("Unbiased Learning-to-Rank with Biased Feedback",
 * 2017), estimated from randomized placements instead of an experiment of its own.
 */

export type Look = { readonly position: number; readonly isLookedAt: boolean };

/** Places from here on count as one: sessions that go so far are few. */
export const placesTold = 30;
/** So many looks at the rate of all places are assumed of each. */
const priorLooks = 40;
/** A weight is at most the inverse of it, so that no single sample decides (clipped, as is usual). */
export const leastPropensity = 0.1;

/** Shares of items that were looked at by place, the first being 1. */
export function propensitiesOf(looks: readonly Look[]): Float64Array {
  const shown = new Float64Array(placesTold);
  const lookedAt = new Float64Array(placesTold);
  for (const { position, isLookedAt } of looks) {
    const place = placeOf(position);
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

export function placeOf(position: number): number {
  return Math.min(Math.max(0, Math.floor(position)), placesTold - 1);
}

function sumOf(values: Float64Array): number {
  return values.reduce((sum, one) => sum + one, 0);
}
