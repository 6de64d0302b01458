/**
 * The days on which one viewer was active. It is a set, so order and repetition don't matter. Only
 * the first day and the following 366 are kept, which is a function of the set of days too.
 *
 * A viewer belongs to the cohort of the first day and counts once on each active day. When an event
 * of an earlier day arrives late, all counts move to the earlier cohort.
 */

/** Days since 1 January 1970, ascending, without duplicates. */
export type Activity = readonly number[];

export const maxDaysBehind = 366;

export function mergeActivity(a: Activity, b: Iterable<number>): Activity {
  const days = [...new Set([...a, ...b])].toSorted((one, other) => one - other);
  const [first] = days;
  return first === undefined ? days : days.filter((day) => day - first <= maxDaysBehind);
}

/** A viewer's counts: one per active day, in the cohort of the first day. */
export function forEachCount(
  activity: Activity,
  count: (cohortDay: number, day: number) => void,
): void {
  const [first] = activity;
  if (first === undefined) return;
  for (const day of activity) count(first, day);
}

/** The first day in four bytes, then one bit for each following day. */
export function writeActivity(activity: Activity): Buffer {
  const first = activity[0] ?? 0;
  const last = activity.at(-1) ?? first;
  const bytes = Buffer.alloc(4 + ((last - first) >> 3) + 1);
  bytes.writeUInt32BE(first);
  for (const day of activity) {
    const bit = day - first;
    const at = 4 + (bit >> 3);
    bytes[at] = (bytes[at] ?? 0) | (1 << (bit & 7));
  }
  return bytes;
}

export function firstDayOf(bytes: Buffer): number {
  return bytes.readUInt32BE();
}

export function readActivity(bytes: Buffer): Activity {
  const first = firstDayOf(bytes);
  const days: number[] = [];
  for (let bit = 0; bit < (bytes.length - 4) * 8; bit += 1) {
    if (((bytes[4 + (bit >> 3)] ?? 0) & (1 << (bit & 7))) !== 0) days.push(first + bit);
  }
  return days;
}
