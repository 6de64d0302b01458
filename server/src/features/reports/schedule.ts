/** When a saved report runs, and which days it covers. Times are wall clock times. */
import { dayMs, hourMs } from '../../platform/values/time.ts';
import type { ZoneClock } from '../../platform/values/zone-clock.ts';

export type Schedule =
  | { readonly every: 'day'; readonly hour: number; readonly timeZone?: string }
  | {
      readonly every: 'week';
      /** 1 is Monday. */
      readonly weekday: number;
      readonly hour: number;
      readonly timeZone?: string;
    }
  | {
      readonly every: 'month';
      /** 1 to 28, which every month has. */
      readonly day: number;
      readonly hour: number;
      readonly timeZone?: string;
    };

const daysToLookAhead = 62;

/** The first due time of a schedule after a given time. @param clock of its time zone */
export function nextDue(schedule: Schedule, clock: ZoneClock, afterMs: number): number {
  const today = startOfDay(clock.localOf(afterMs));
  for (let ahead = 0; ahead <= daysToLookAhead; ahead += 1) {
    const day = today + ahead * dayMs;
    if (!isDueOn(schedule, day)) continue;
    const moment = clock.momentOf(day + schedule.hour * hourMs);
    if (moment > afterMs) return moment;
  }
  throw new Error(`The schedule is not due within ${daysToLookAhead} days.`);
}

function isDueOn(schedule: Schedule, day: number): boolean {
  switch (schedule.every) {
    case 'day':
      return true;
    case 'week':
      return weekdayOf(day) === schedule.weekday;
    case 'month':
      return new Date(day).getUTCDate() === schedule.day;
  }
}

export const ranges = [
  'yesterday',
  'last7Days',
  'last28Days',
  'last90Days',
  'lastWeek',
  'lastMonth',
] as const;
export type ReportRange = (typeof ranges)[number];

export type ReportDays = { readonly startDate: string; readonly endDate: string };

/** The complete days of a range at a given time. @param clock of the organization */
export function completeDaysOf(range: ReportRange, clock: ZoneClock, atMs: number): ReportDays {
  const today = startOfDay(clock.localOf(atMs));
  const until = (endMs: number, startMs: number) => ({
    startDate: formatDay(startMs),
    endDate: formatDay(endMs - dayMs),
  });
  switch (range) {
    case 'yesterday':
      return until(today, today - dayMs);
    case 'last7Days':
      return until(today, today - 7 * dayMs);
    case 'last28Days':
      return until(today, today - 28 * dayMs);
    case 'last90Days':
      return until(today, today - 90 * dayMs);
    case 'lastWeek': {
      const monday = today - (weekdayOf(today) - 1) * dayMs;
      return until(monday, monday - 7 * dayMs);
    }
    case 'lastMonth': {
      const date = new Date(today);
      const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
      return until(Date.UTC(year, month, 1), Date.UTC(year, month - 1, 1));
    }
  }
}

function startOfDay(localMs: number): number {
  return Math.floor(localMs / dayMs) * dayMs;
}

/** 1 for Monday. 1 January 1970 was a Thursday. */
function weekdayOf(day: number): number {
  return ((day / dayMs + 3) % 7) + 1;
}

function formatDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
