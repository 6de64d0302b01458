/**
 * The layer that running ranking experiments share: content can be ordered in only one way, so a
 * unit is in at most one of them. Each takes free parts of [0, 1). Experiments whose audiences
 * exclude each other never share a unit, so they may take the same parts.
 */
import type { Targeting } from '@reelfeed/client/assignment';
import type { SlotRange } from './experiment.ts';

const tolerance = 1e-9;

/**
 * Takes free parts of the layer that add up to `traffic`, upwards from `place` and wrapping around.
 * Random starting places spread the burden of experiments over all units.
 *
 * @param place in [0, 1)
 * @returns null if too little is free
 */
export function takeRanges(
  taken: readonly SlotRange[],
  traffic: number,
  place: number,
): SlotRange[] | null {
  const ranges: SlotRange[] = [];
  let wanted = traffic;
  for (const [from, to] of [...freeBetween(taken, place, 1), ...freeBetween(taken, 0, place)]) {
    if (wanted <= tolerance) break;
    const take = Math.min(wanted, to - from);
    ranges.push([from, from + take]);
    wanted -= take;
  }
  return wanted <= tolerance ? ranges : null;
}

export function freeShare(taken: readonly SlotRange[]): number {
  return freeBetween(taken, 0, 1).reduce((sum, [from, to]) => sum + to - from, 0);
}

function freeBetween(taken: readonly SlotRange[], lowest: number, highest: number): SlotRange[] {
  const free: SlotRange[] = [];
  let from = lowest;
  const ascending = taken.toSorted(([a], [b]) => a - b);
  for (const [start, end] of [...ascending, [highest, highest] as const]) {
    const to = Math.min(start, highest);
    if (to - from > tolerance) free.push([from, to]);
    from = Math.max(from, end);
  }
  return free;
}

/**
 * Whether no viewer can be in both audiences at once. A viewer has one country and one device, but
 * any number of segments.
 */
export function areExclusive(one: Targeting, other: Targeting): boolean {
  return (
    areDisjoint(one.countries ?? [], other.countries ?? []) ||
    areDisjoint(one.devices ?? [], other.devices ?? [])
  );
}

/** An empty list matches everyone. */
function areDisjoint(some: readonly string[], others: readonly string[]): boolean {
  if (some.length === 0 || others.length === 0) return false;
  return some.every((each) => !others.includes(each));
}
