/** Share of the free places that one organization may hold. */
const shareOfFree = 1 / 4;

/**
 * The organizations that hold their share of a process's places for one kind of job, so that the
 * rest is left for others. `holders` has one entry for each occupied place.
 */
export function holdersOfShares(places: number, holders: readonly string[]): string[] {
  const share = (places - holders.length) * shareOfFree;
  const held = new Map<string, number>();
  for (const holder of holders) held.set(holder, (held.get(holder) ?? 0) + 1);
  return [...held].filter(([, count]) => count >= share).map(([holder]) => holder);
}
