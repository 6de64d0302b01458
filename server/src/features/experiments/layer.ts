/**
 * The layer that running ranking experiments share: content can be ordered in only one way, so a
 * unit is in at most one of them. Each takes free parts of [0, 1).
 */
import type { Range } from './experiment.ts';

const tolerance = 1e-9;

/**
 * Free parts of the layer with `traffic` in all, from the bottom up.
 *
 * @returns null where less is free
 */
export function takeRanges(taken: readonly Range[], traffic: number): Range[] | null {
  const ranges: Range[] = [];
  let wanted = traffic;
  let from = 0;
  for (const [start, end] of [...taken.toSorted(([a], [b]) => a - b), [1, 1] as const]) {
    const take = Math.min(wanted, start - from);
    if (take > tolerance) {
      ranges.push([from, from + take]);
      wanted -= take;
    }
    from = Math.max(from, end);
    if (wanted <= tolerance) return ranges;
  }
  return wanted <= tolerance ? ranges : null;
}
