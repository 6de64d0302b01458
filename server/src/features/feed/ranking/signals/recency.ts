import { hourMs } from '../../../../platform/time.ts';

/**
 * How new an item is: 2^(−age / half-life), 1 for one that has just appeared. An item is as old as
 * the later of its creation and its `publishAt`. This is the exponential decay of the usual feed
 * rankings, with the half-life as its one parameter.
 */
export function recency(freshSinceMs: number, nowMs: number, halfLifeHours: number): number {
  const ageMs = Math.max(0, nowMs - freshSinceMs);
  return 2 ** (-ageMs / (halfLifeHours * hourMs));
}
