import { hourMs } from '../../../../platform/values/time.ts';

/**
 * The recency of an item: 2^(−age / half-life), 1 for one that has just appeared. The age counts
 * from the later of its creation and its `publishAt`. This is the usual exponential decay of feed
 * rankings, with the half-life as its only parameter.
 */
export function recency(freshSinceMs: number, nowMs: number, halfLifeHours: number): number {
  const ageMs = Math.max(0, nowMs - freshSinceMs);
  return 2 ** (-ageMs / (halfLifeHours * hourMs));
}
