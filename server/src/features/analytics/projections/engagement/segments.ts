/**
 * Views and sessions end with a pause: events after it belong to the next one. The boundaries are a
 * function of the set of events, so a late event may join two separate segments.
 */
export type ActivitySegment = {
  /** Milliseconds since the Unix epoch. */
  firstAt: number;
  lastAt: number;
};

/** Whether an event at this time belongs to the segment. */
export function isWithinReach(segment: ActivitySegment, at: number, idleMs: number): boolean {
  return at > segment.firstAt - idleMs && at < segment.lastAt + idleMs;
}

/**
 * All segments of both, ascending, with those less than `idleMs` apart joined by `merge`. A segment
 * that was not joined stays the same object.
 */
export function joinSegments<S extends ActivitySegment>(
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
