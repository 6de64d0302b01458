/** Faded sums of a viewer's likes and dislikes, for a tag, an author, or overall. */
export type Liking = { readonly liked: number; readonly disliked: number };

/** Weight of the prior, which is the viewer's usual rate. */
const prior = 5;
export const neutral = 0.5;
/** Rates lie close together; this exponent spreads them. */
const contrast = 3;

/** The viewer's overall share of likes, smoothed by a symmetric Beta prior. */
export function usualLikeRate({ liked, disliked }: Liking): number {
  return (liked + prior * neutral) / (liked + disliked + prior);
}

/**
 * A viewer's affinity to something, in (0, 1): the odds ratio r between its rate, (liked + k·usual)
 * / (liked + disliked + k), and the viewer's usual rate, as r³ / (1 + r³). Neutral without
 * evidence, and for anything the viewer likes as much as everything else: watching everything to
 * the end says nothing about topics.
 */
export function affinityOf({ liked, disliked }: Liking, usual: number): number {
  const rate = (liked + prior * usual) / (liked + disliked + prior);
  const ratio = (oddsOf(rate) / oddsOf(usual)) ** contrast;
  return ratio / (1 + ratio);
}

function oddsOf(rate: number): number {
  // A rate of exactly 1, which floating-point sums can produce, has no odds.
  return rate / Math.max(1 - rate, 1e-9);
}

/** By tag or author; missing ones are neutral. */
export type Affinities = ReadonlyMap<string, number>;
