/**
 * Views and sessions end by silence: what comes after a pause belongs to the next one. Where the cuts
 * are is a function of the set of events, so late events may join two segments that were apart.
 */
export type Segment = {
  /** Milliseconds of the Unix epoch. */
  firstAt: number;
  lastAt: number;
};

/** Whether an event at this moment belongs to the segment. */
export function isWithinReach(segment: Segment, at: number, idleMs: number): boolean {
  return at > segment.firstAt - idleMs && at < segment.lastAt + idleMs;
}

/**
 * All segments of both, ascending, those that are less than `idleMs` apart joined by `merge`. A
 * segment that nothing has joined stays the same object.
 */
export function joinSegments<S extends Segment>(
  a: readonly S[],
  b: readonly S[],
  idleMs: number,
  merge: (one: S, other: S) => S,
): S[] {
  const joined: S[] = [];
  for (const segment of [...a, ...b].toSorted((one, other) => one.firstAt - other.firstAt)) {
    const last = joined.at(-1);
    if (last !== undefined && isWithinReach(last, segment.firstAt, idleMs)) {
      joined[joined.length - 1] = merge(last, segment);
    } else joined.push(segment);
  }
  return joined;
}
