import { neutral, type Affinities } from './affinity.ts';

/**
 * How much a viewer likes what an item is about, in (0, 1): the mean of the affinities to its tags. A
 * tag that the viewer has not met is neutral, and so is an item without tags. An item with many tags is
 * liked for each of them so much the less: over viewers of different tastes, stuffing it with tags
 * gains nothing.
 */
export function topicAffinity(tags: readonly string[], affinities: Affinities): number {
  if (tags.length === 0 || affinities.size === 0) return neutral;
  let sum = 0;
  for (const tag of tags) sum += affinities.get(tag) ?? neutral;
  return sum / tags.length;
}
