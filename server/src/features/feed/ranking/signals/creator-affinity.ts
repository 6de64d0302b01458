import { neutral, type Affinities } from './affinity.ts';

/** A viewer's affinity to the author of an item, in (0, 1); neutral if either is unknown. */
export function creatorAffinity(author: string | null, affinities: Affinities): number {
  return author === null ? neutral : (affinities.get(author) ?? neutral);
}
