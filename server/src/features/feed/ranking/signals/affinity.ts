/** Faded sums of what a viewer liked and disliked: about a tag, an author, or altogether. */
export type Liking = { readonly liked: number; readonly disliked: number };

/** So much evidence that is like the viewer's usual one is assumed. */
const prior = 5;
export const neutral = 0.5;
/** Rates of likings lie close together; this draws them apart. */
const contrast = 3;

/** The share of liking in all that a viewer did, smoothed by a Beta prior of an even share. */
export function usualRate({ liked, disliked }: Liking): number {
  return (liked + prior * neutral) / (liked + disliked + prior);
}

/**
 * How much a viewer likes something, in (0, 1): the odds ratio between its rate of liking,
 * (liked + k·usual) / (liked + disliked + k), and the viewer's usual one, as r³ / (1 + r³). Neutral
 * without evidence, and for something that the viewer likes as much as everything else: who watches
 * everything to the end says nothing about topics.
 */
export function affinityOf({ liked, disliked }: Liking, usual: number): number {
  const rate = (liked + prior * usual) / (liked + disliked + prior);
  const ratio = (oddsOf(rate) / oddsOf(usual)) ** contrast;
  return ratio / (1 + ratio);
}

function oddsOf(rate: number): number {
  // A rate of exactly 1 has no odds; sums of doubles can make one.
  return rate / Math.max(1 - rate, 1e-9);
}

/** By tag or author; one that is missing is neutral. */
export type Affinities = ReadonlyMap<string, number>;
