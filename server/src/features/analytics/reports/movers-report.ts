/** The items that have gained or lost most compared with the previous period. */
import type { CountSource } from './count-source.ts';
import { toSeconds } from './metrics.ts';
import type { MovedItem, MoversRequest } from './movers-query.ts';

/** Items that have changed, largest difference first. */
export async function reportMovers(
  counts: CountSource,
  query: MoversRequest,
): Promise<(MovedItem & { difference: number; change: number | null })[]> {
  const rows = await counts.moved(query);
  const scale = (value: number) => (query.metric === 'totalWatchTime' ? toSeconds(value) : value);
  return rows.map(({ contentId, title, current, previous }) => ({
    contentId,
    title,
    current: scale(current),
    previous: scale(previous),
    difference: scale(current - previous),
    change: previous === 0 ? null : (current - previous) / previous,
  }));
}
