/** Viewers who watched and who reacted: in a whole period, in its buckets, and in other spans. */
import type { PeopleOf } from './metrics.ts';

/** For the whole period, each bucket (null if unknown), and other spans. */
export type UniqueViewers<N extends number | null = number | null> = {
  total: number;
  byBucket: N[];
  others: number[];
};

export type PeopleCounts<N extends number | null = number | null> = {
  total: PeopleOf<number>;
  byBucket: PeopleOf<N>[];
  others: PeopleOf<number>[];
};

export function zipPeople<N extends number | null>(
  watching: UniqueViewers<N>,
  reacting: UniqueViewers<N>,
): PeopleCounts<N> {
  return {
    total: { uniqueViewers: watching.total, reactingViewers: reacting.total },
    byBucket: watching.byBucket.map((uniqueViewers, index) => ({
      uniqueViewers,
      reactingViewers: reacting.byBucket[index] as N,
    })),
    others: watching.others.map((uniqueViewers, index) => ({
      uniqueViewers,
      reactingViewers: reacting.others[index] ?? 0,
    })),
  };
}

export function zipByKey<Key>(
  watching: ReadonlyMap<Key, number>,
  reacting: ReadonlyMap<Key, number>,
): Map<Key, PeopleOf<number>> {
  const keys = new Set([...watching.keys(), ...reacting.keys()]);
  return new Map(
    [...keys].map((key) => [
      key,
      { uniqueViewers: watching.get(key) ?? 0, reactingViewers: reacting.get(key) ?? 0 },
    ]),
  );
}
