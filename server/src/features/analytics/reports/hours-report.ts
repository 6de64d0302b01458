/** When viewers watch: the hours of the week, by the organization's clock. */
import { dayMs, hourMs } from '../../../platform/time.ts';
import type { Db } from '../../../platform/database/database.ts';
import { fieldError } from '../../../platform/http/errors.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { hoursKeptDays } from '../projections/table-queries.ts';
import { readSeries, type Series } from './counter-queries.ts';
import { isAboutItems, type ReportFilter } from './filter.ts';
import { readFilteredSeries } from './filtered-series.ts';
import { seconds, sumCounters, type AudienceCounters } from './metrics.ts';
import { bucketStart, type Period } from './period.ts';

const counts = ['impressions', 'plays', 'views', 'watch_ms', 'likes', 'sessions'] as const;

/** Each hour of each weekday, Monday (1) first, with what happened in it on all days of the range. */
export async function reportHours(
  db: Db,
  organizationId: OrganizationId,
  { period, filter, nowMs }: { period: Period; filter: ReportFilter | null; nowMs: number },
) {
  // Older hours are going, and zeros in their place would be a lie.
  if (period.startMs <= bucketStart(nowMs, 'day') - hoursKeptDays * dayMs) {
    throw fieldError('query.startDate', `hours are kept for ${hoursKeptDays} days`);
  }
  const series = await readHours(db, organizationId, period, filter);
  const cells = Map.groupBy(series, ({ startMs }) => hourOfWeek(startMs));
  const days = countWeekdays(period, nowMs);
  return Array.from({ length: 7 * 24 }, (_, cell) => {
    const counters = sumCounters(cells.get(cell) ?? []);
    const weekday = Math.floor(cell / 24);
    return {
      weekday: weekday + 1,
      hour: cell % 24,
      days: days[weekday] ?? 0,
      impressions: counters.impressions,
      plays: counters.plays,
      views: counters.views,
      totalWatchTime: seconds(counters.watch_ms),
      likes: counters.likes,
      sessions: filter !== null && isAboutItems(filter) ? null : counters.sessions,
    };
  });
}

async function readHours(
  db: Db,
  organizationId: OrganizationId,
  { startMs, endMs }: Period,
  filter: ReportFilter | null,
): Promise<Series<AudienceCounters>> {
  if (filter === null) return readSeries(db, organizationId, { grain: 'hour', startMs, endMs });
  const period: Period = { startMs, endMs, granularity: 'hour' };
  const found = await readFilteredSeries(db, organizationId, period, { filter, parts: { counts } });
  return found.series(period);
}

/** From 0 for the first hour of Monday. 1 January 1970 was a Thursday. */
function hourOfWeek(ms: number): number {
  return (Math.floor(ms / dayMs + 3) % 7) * 24 + Math.floor((ms % dayMs) / hourMs);
}

/** How many Mondays, Tuesdays and so on of the range have begun. */
function countWeekdays({ startMs, endMs }: Period, nowMs: number): number[] {
  const days = Array.from({ length: 7 }, () => 0);
  for (let day = startMs; day < endMs && day <= nowMs; day += dayMs) {
    const weekday = Math.floor(hourOfWeek(day) / 24);
    days[weekday] = (days[weekday] ?? 0) + 1;
  }
  return days;
}
