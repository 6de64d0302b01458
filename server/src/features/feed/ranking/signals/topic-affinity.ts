import { neutral, type Affinities } from './affinity.ts';

const tagsCounted = 3;

/**
 * How much a viewer likes what an item is about, in (0, 1): the mean of the affinities to those three
 * of its tags that the viewer likes best. A tag that the viewer has not met is neutral, and so is an
 * item without tags.
 */
export function topicAffinity(tags: readonly string[], affinities: Affinities): number {
  if (tags.length === 0 || affinities.size === 0) return neutral;
  let first = -1;
  let second = -1;
  let third = -1;
  for (const tag of tags) {
    const affinity = affinities.get(tag) ?? neutral;
    if (affinity > first) {
      third = second;
      second = first;
      first = affinity;
    } else if (affinity > second) {
      third = second;
      second = affinity;
    } else if (affinity > third) {
      third = affinity;
    }
  }
  const counted = Math.min(tags.length, tagsCounted);
  return (first + (counted > 1 ? second : 0) + (counted > 2 ? third : 0)) / counted;
}
