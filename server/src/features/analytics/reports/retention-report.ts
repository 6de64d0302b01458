import { dayMs } from '../../../platform/values/time.ts';
import type { CountSource } from './count-source.ts';
import { bucketIndex, bucketsOf, type Period } from './period.ts';
import type { RetentionCount } from './retention-queries.ts';

export type Cohort = { date: string; size: number; retention: number[] };

/** Viewers by their first day or week, and the share of them that returned n days later. */
export async function reportRetention(
  counts: CountSource,
  { period, nowMs }: { period: Period; nowMs: number },
): Promise<{ cohorts: Cohort[] }> {
  // Cohorts are at least a day long: nobody returns to an hour.
  const granularity = period.granularity === 'week' ? 'week' : 'day';
  return { cohorts: cohortsOf({ ...period, granularity }, await counts.cohorts(period), nowMs) };
}

/**
 * For cohorts of several days, retention[n] covers only viewers whose first day was at least n days
 * ago, because the others cannot have returned yet. The last day is that of the range, and never
 * after today.
 */
export function cohortsOf(
  period: Period,
  counts: readonly RetentionCount[],
  nowMs: number,
): Cohort[] {
  const today = Math.floor((Math.min(period.endMs - 1, nowMs) - period.startMs) / dayMs);
  // Events may be a few minutes ahead of the clock and thus fall on tomorrow.
  const lastDay = counts.reduce((last, { day }) => Math.max(last, day), today);
  const byCohort = Map.groupBy(counts, ({ cohort }) =>
    bucketIndex(period, period.startMs + cohort * dayMs),
  );
  return bucketsOf(period).map(({ date }, index) => {
    const rows = byCohort.get(index) ?? [];
    const sizes = rows.filter(({ cohort, day }) => cohort === day);
    const size = sum(sizes);
    if (size === 0) return { date, size, retention: [] };
    const firstCohort = Math.min(...sizes.map(({ cohort }) => cohort));
    const byDistance = Map.groupBy(rows, ({ cohort, day }) => day - cohort);
    const retention: number[] = [];
    for (let n = 0; firstCohort + n <= lastDay; n += 1) {
      const base = sum(sizes.filter(({ cohort }) => cohort + n <= lastDay));
      retention.push(sum(byDistance.get(n) ?? []) / base);
    }
    return { date, size, retention };
  });
}

function sum(rows: readonly RetentionCount[]): number {
  return rows.reduce((total, { viewers }) => total + viewers, 0);
}
