/** Viewing by hour of the week, by the organization's clock. */
import { dayMs, hourMs } from '../../../platform/values/time.ts';
import { fieldError } from '../../../platform/http/errors.ts';
import { hoursKeptDays } from '../projections/table-queries.ts';
import type { CountSource } from './count-source.ts';
import { toSeconds, sumCounters } from './metrics.ts';
import { bucketStart, type Period } from './period.ts';

/** Each hour of each weekday, Monday (1) first, with its activity over all days of the range. */
export async function reportHours(
  counts: CountSource,
  { period, nowMs }: { period: Period; nowMs: number },
) {
  // Older hours expire, and zeros in their place would be wrong.
  if (period.startMs <= bucketStart(nowMs, 'day') - hoursKeptDays * dayMs) {
    throw fieldError('query.startDate', `hourly data is kept for ${hoursKeptDays} days`);
  }
  const series = await counts.byHour(period);
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
      totalWatchTime: toSeconds(counters.watch_ms),
      likes: counters.likes,
      sessions: counts.hasSessions ? counters.sessions : null,
    };
  });
}

/** Starts at 0 for the first hour of Monday. 1 January 1970 was a Thursday. */
function hourOfWeek(ms: number): number {
  return (Math.floor(ms / dayMs + 3) % 7) * 24 + Math.floor((ms % dayMs) / hourMs);
}

/** Number of Mondays, Tuesdays and so on that have begun in the range. */
function countWeekdays({ startMs, endMs }: Period, nowMs: number): number[] {
  const days = Array.from({ length: 7 }, () => 0);
  for (let day = startMs; day < endMs && day <= nowMs; day += dayMs) {
    const weekday = Math.floor(hourOfWeek(day) / 24);
    days[weekday] = (days[weekday] ?? 0) + 1;
  }
  return days;
}
