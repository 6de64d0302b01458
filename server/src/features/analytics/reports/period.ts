/**
 * The time range of a report: whole days of the organization's clock, split into hours, days or ISO
 * weeks (Monday to Sunday). All arithmetic uses milliseconds of that clock (`zone-clock.ts`), where
 * every day has 86,400,000 and nothing is skipped or repeated.
 *
 * A partial week contains only the days within the range, under the date of its Monday, so the
 * buckets of a range always add up to its summary.
 */
import { fieldError } from '../../../platform/http/errors.ts';
import type { Db } from '../../../platform/database/database.ts';
import { clockOf, type ZoneClock } from '../../../platform/values/zone-clock.ts';
import { readOrganizationClock } from '../../organizations/organizations.ts';
import { dayMs, hourMs, parseTimestamp } from '../../../platform/values/time.ts';
import { hoursKeptDays } from '../projections/table-queries.ts';

export const granularities = ['hour', 'day', 'week'] as const;
export type Granularity = (typeof granularities)[number];

const weekMs = 7 * dayMs;
/** 1 January 1970 was a Thursday; this is the Monday before. */
const firstMondayMs = -3 * dayMs;

const maxDays = 366;
/** 744 buckets, which is as many as a chart can show. */
export const maxDaysOfHours = 31;
const defaultDays = 30;
const earliestMs = Date.UTC(1970, 0, 1);
const latestMs = Date.UTC(9998, 11, 31);

/** A part of a period, from `startMs` up to but excluding `endMs`. */
export type PeriodBucket = {
  readonly startMs: number;
  readonly endMs: number;
  /** Its name in responses: a day, the Monday of a week, or the start of an hour. */
  readonly date: string;
};

export type Period = {
  readonly startMs: number;
  readonly endMs: number;
  readonly granularity: Granularity;
  /** The clock used to name hours; UTC if missing. */
  readonly clock?: ZoneClock;
};

export type LocalNow = { readonly nowMs: number; readonly clock: ZoneClock };

export async function readLocalNow(db: Db, organizationId: string): Promise<LocalNow> {
  const clock = await readOrganizationClock(db, organizationId);
  return { nowMs: clock.localOf(Date.now()), clock };
}

export type PeriodQuery = { startDate?: string; endDate?: string; granularity?: Granularity };

/**
 * The period requested by a query. The default is the last 30 days including today, by day.
 *
 * @param path of the fields, for error messages
 * @throws ApiError VALIDATION_ERROR
 */
export function readPeriod(
  query: PeriodQuery,
  { nowMs, clock }: LocalNow,
  path: 'query.' | '' = 'query.',
): Period {
  const { granularity = 'day' } = query;
  const given = query.endDate === undefined ? null : readDay(`${path}endDate`, query.endDate);
  const firstDay =
    query.startDate === undefined ? null : readDay(`${path}startDate`, query.startDate);
  const lastDay = given ?? Math.max(startOfDay(nowMs), firstDay ?? 0);
  const startMs = firstDay ?? Math.max(lastDay - (defaultDays - 1) * dayMs, earliestMs);
  const days = (lastDay - startMs) / dayMs + 1;
  if (days < 1) throw fieldError(`${path}endDate`, 'must not be before startDate');
  if (days > maxDays) {
    throw fieldError(`${path}endDate`, `must be at most ${maxDays - 1} days after startDate`);
  }
  if (granularity === 'hour') checkHours(startMs, days, nowMs, path);
  return { startMs, endMs: lastDay + dayMs, granularity, clock };
}

function checkHours(startMs: number, days: number, nowMs: number, path: string): void {
  if (days > maxDaysOfHours) {
    throw fieldError(`${path}granularity`, `can be hour for at most ${maxDaysOfHours} days`);
  }
  // Older hours expire, and zeros in their place would be wrong.
  if (startMs <= startOfDay(nowMs) - hoursKeptDays * dayMs) {
    throw fieldError(`${path}granularity`, `hourly data is kept for ${hoursKeptDays} days`);
  }
}

const dayForm = /^\d{4}-\d\d-\d\d$/;

function readDay(path: string, value: string): number {
  const day = dayForm.test(value) ? parseTimestamp(`${value}T00:00:00Z`) : null;
  if (day === null) throw fieldError(path, 'must be a day such as 2026-01-31');
  const ms = day.getTime();
  if (ms < earliestMs || ms > latestMs) {
    throw fieldError(path, 'must be from 1970-01-01 to 9998-12-31');
  }
  return ms;
}

export type ComparablePeriods = { readonly now: Period; readonly before: Period };

/**
 * The period and its comparison: the same number of days immediately before it. An incomplete last
 * day would always look like a drop, so it is left out together with its counterpart. Both periods
 * are empty for a range of only today. Only totals are compared, so weeks are used to keep buckets
 * few.
 */
export function comparablePeriods({ startMs, endMs }: Period, nowMs: number): ComparablePeriods {
  const lengthMs = endMs - startMs;
  const today = startOfDay(nowMs);
  const comparedMs = today >= startMs && today < endMs ? today - startMs : lengthMs;
  const of = (start: number) =>
    ({ startMs: start, endMs: start + comparedMs, granularity: 'week' }) as const;
  return { now: of(startMs), before: of(startMs - lengthMs) };
}

/** All buckets of a period in order, including empty ones. */
export function bucketsOf({ startMs, endMs, granularity, clock }: Period): PeriodBucket[] {
  const buckets: PeriodBucket[] = [];
  for (let start = bucketStart(startMs, granularity); start < endMs;) {
    const next = start + lengthsMs[granularity];
    buckets.push({
      startMs: Math.max(start, startMs),
      endMs: Math.min(next, endMs),
      date: granularity === 'hour' ? (clock ?? clockOf('UTC')).nameOf(start) : formatDay(start),
    });
    start = next;
  }
  return buckets;
}

const lengthsMs: Record<Granularity, number> = { hour: hourMs, day: dayMs, week: weekMs };

/** The start of the hour, day or week that contains a time. */
export function bucketStart(ms: number, granularity: Granularity): number {
  const originMs = granularity === 'week' ? firstMondayMs : 0;
  const lengthMs = lengthsMs[granularity];
  return originMs + Math.floor((ms - originMs) / lengthMs) * lengthMs;
}

export function bucketIndex({ startMs, granularity }: Period, ms: number): number {
  const first = bucketStart(startMs, granularity);
  return (bucketStart(ms, granularity) - first) / lengthsMs[granularity];
}

function startOfDay(ms: number): number {
  return bucketStart(ms, 'day');
}

export function formatDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
