import type { Db } from '../../platform/database/database.ts';
import { dayMs } from '../../platform/time.ts';
import { readDailyMetrics } from '../analytics/analytics.ts';
import type { ExportRange } from './exports.ts';
import type { Column, Row } from './rows.ts';

export const analyticsColumns: readonly Column[] = [
  { name: 'date', type: 'string' },
  { name: 'contentId', type: 'string' },
  { name: 'title', type: 'string' },
  { name: 'impressions', type: 'integer' },
  { name: 'plays', type: 'integer' },
  { name: 'completions', type: 'integer' },
  { name: 'uniqueViewers', type: 'integer' },
  { name: 'totalWatchTime', type: 'number' },
  { name: 'averageWatchTime', type: 'number' },
  { name: 'completionRate', type: 'number' },
  { name: 'engagementRate', type: 'number' },
  { name: 'likes', type: 'integer' },
  { name: 'shares', type: 'integer' },
  { name: 'saves', type: 'integer' },
  { name: 'swipesAway', type: 'integer' },
  { name: 'views', type: 'integer' },
  { name: 'engagedViews', type: 'integer' },
  { name: 'hookRate', type: 'number' },
  { name: 'swipeAwayRate', type: 'number' },
  { name: 'loopRate', type: 'number' },
  { name: 'replays', type: 'integer' },
  { name: 'averagePercentWatched', type: 'number' },
];

const itemsAtOnce = 1_000;

/** The metrics of each item on each day on which it had any, by day and item. */
export async function* readAnalyticsRows(
  db: Db,
  { organizationId, startMs, endMs }: ExportRange,
  signal: AbortSignal,
): AsyncGenerator<Row[]> {
  for (let day = startMs; day < endMs; day += dayMs) {
    for (let after: string | null = null; ;) {
      signal.throwIfAborted();
      const page: Awaited<ReturnType<typeof readDailyMetrics>> = await readDailyMetrics(
        db,
        organizationId,
        { dayMs: day, after, limit: itemsAtOnce },
      );
      yield page.map(({ metrics, ...item }) => ({ ...item, ...metrics }));
      const last = page.at(-1);
      if (last === undefined || page.length < itemsAtOnce) break;
      after = last.contentId;
    }
  }
}
