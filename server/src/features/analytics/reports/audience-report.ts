/** Active viewers of rolling days, weeks and months, and how many of them are new. */
import { dayMs } from '../../../platform/values/time.ts';
import type { CountSource } from './count-source.ts';
import { ratio } from './metrics.ts';
import { bucketStart, formatDay, type Period } from './period.ts';

const weekDays = 7;
const monthDays = 30;

/**
 * The audience at the end of a period (or today, if earlier), and new and returning viewers for
 * each day. Active viewers have played something; new viewers have done anything for the first
 * time.
 */
export async function reportAudience(
  counts: CountSource,
  { period, nowMs }: { period: Period; nowMs: number },
) {
  const { startMs, endMs } = period;
  const lastMs = Math.min(endMs, bucketStart(nowMs, 'day') + dayMs);
  const { active, byDay } = await counts.audience(period, rollingSpans(lastMs));
  const { total: monthly, others } = active;
  const [weekly = 0, daily = 0] = others;
  const timeseries = [];
  for (let day = startMs; day < endMs; day += dayMs) {
    const date = formatDay(day);
    const { newViewers = 0, returningViewers = 0 } = byDay.get(day / dayMs) ?? {};
    timeseries.push({ date, newViewers, returningViewers });
  }
  return {
    date: formatDay(lastMs - 1),
    dailyActiveViewers: daily,
    weeklyActiveViewers: weekly,
    monthlyActiveViewers: monthly,
    stickiness: ratio(daily, monthly),
    newViewers: timeseries.reduce((sum, { newViewers }) => sum + newViewers, 0),
    timeseries,
  };
}

/** The day, week and month that end at a given time. */
function rollingSpans(endMs: number) {
  const last = (days: number) =>
    ({ startMs: endMs - days * dayMs, endMs, granularity: 'day' }) as const;
  return [last(monthDays), last(weekDays), last(1)] as const;
}
