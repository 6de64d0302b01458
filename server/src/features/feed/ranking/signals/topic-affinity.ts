import { neutral, type Affinities } from './affinity.ts';

/**
 * A viewer's affinity to the topics of an item, in (0, 1): the mean affinity to its tags. Tags that
 * the viewer has not encountered are neutral, and so are items without tags. With more tags, each
 * one counts less: over viewers of different tastes, stuffing an item with tags gains nothing.
 */
export function topicAffinity(tags: readonly string[], affinities: Affinities): number {
  if (tags.length === 0 || affinities.size === 0) return neutral;
  let sum = 0;
  for (const tag of tags) sum += affinities.get(tag) ?? neutral;
  return sum / tags.length;
}
