/** The numbers of a filter over time. */
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { sumFacts, type FactSums } from '../facts/sums.ts';
import type { Series } from './counter-queries.ts';
import { toFactFilter, type ReportFilter } from './filter.ts';
import type { AudienceCounters } from './metrics.ts';
import { bucketIndex, bucketsOf, type Period } from './period.ts';
import type { UniqueViewers } from './unique-viewers.ts';

type Within = { readonly startMs: number; readonly endMs: number };

/** What is added up in addition to the counts. */
type Extras = { readonly startups?: boolean; readonly reached?: boolean; readonly fromMs?: number };

export class FilteredSeries {
  readonly sums: FactSums;

  constructor(sums: FactSums) {
    this.sums = sums;
  }

  /** The counts of each hour or day on which there were any. */
  series({ startMs, endMs }: Within): Series<AudienceCounters> {
    return [...this.sums.groups.keys()]
      .map(Number)
      .filter((moment) => moment >= startMs && moment < endMs)
      .map((moment) => ({ ...this.sums.countsOf(moment), startMs: moment }));
  }

  viewersIn({ startMs, endMs }: Within): number {
    const isWithin = (moment: number) => moment >= startMs && moment < endMs;
    return this.sums.viewersByIndex(1, (key) => (isWithin(Number(key)) ? 0 : null))[0] ?? 0;
  }

  viewers(period: Period): UniqueViewers {
    const { startMs, endMs } = period;
    const indexOf = (moment: number) =>
      moment >= startMs && moment < endMs ? bucketIndex(period, moment) : null;
    return {
      total: this.viewersIn(period),
      byBucket: this.sums.viewersByIndex(bucketsOf(period).length, (key) => indexOf(Number(key))),
    };
  }
}

/** @param extras.fromMs where to begin when that is before the period */
export async function readFilteredSeries(
  db: Db,
  organizationId: OrganizationId,
  period: Period,
  filter: ReportFilter,
  { fromMs = period.startMs, ...extras }: Extras = {},
): Promise<FilteredSeries> {
  const sums = await sumFacts(db, organizationId, {
    startMs: fromMs,
    endMs: period.endMs,
    filter: await toFactFilter(db, organizationId, filter),
    groupBy: period.granularity === 'hour' ? 'hour' : 'day',
    viewers: 'watching',
    ...extras,
  });
  return new FilteredSeries(sums);
}
