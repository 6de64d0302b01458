import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { addFacts } from '../facts/scan.ts';
import { FactSums, type FactQuery } from '../facts/sums.ts';
import type { Series } from './counter-queries.ts';
import { toFactFilter, type ReportFilter } from './filter.ts';
import type { AudienceCounters } from './metrics.ts';
import { bucketsOf, type Period } from './period.ts';
import { zipPeople, type PeopleCounts, type UniqueViewers } from './people-counts.ts';

export type Within = { readonly startMs: number; readonly endMs: number };

/** The values of the series: all counts by default, plus what else is requested. */
export type SeriesParts = Pick<FactQuery, 'counts' | 'startups' | 'reached'> & {
  readonly viewers?: 'watching';
  /** Also counts viewers who reacted. */
  readonly reactors?: boolean;
};

export class FilteredSeries {
  readonly sums: FactSums;
  readonly #reactors: FactSums | null;

  constructor({ granularity }: Period, { reactors = false, ...parts }: SeriesParts) {
    const groupBy = granularity === 'hour' ? 'hour' : 'day';
    this.sums = new FactSums({ groupBy, ...parts });
    this.#reactors = reactors ? new FactSums({ groupBy, counts: [], viewers: 'reacting' }) : null;
  }

  get parts(): FactSums[] {
    return this.#reactors === null ? [this.sums] : [this.sums, this.#reactors];
  }

  /** The counts of each hour or day that has any. */
  series({ startMs, endMs }: Within): Series<AudienceCounters> {
    return [...this.sums.groups.keys()]
      .map(Number)
      .filter((moment) => moment >= startMs && moment < endMs)
      .map((moment) => ({ ...this.sums.countsOf(moment), startMs: moment }));
  }

  /** Unique viewers of a period, of each of its buckets, and of other spans, in one pass. */
  viewers(period: Period, ...others: Within[]): UniqueViewers<number> {
    return viewersIn(this.sums, period, others);
  }

  /** Like `viewers`, for viewers who watched and viewers who reacted. */
  people(period: Period, ...others: Within[]): PeopleCounts<number> {
    const reactors =
      this.#reactors === null ? noViewers : viewersIn(this.#reactors, period, others);
    return zipPeople(this.viewers(period, ...others), reactors);
  }
}

const noViewers: UniqueViewers<number> = { total: 0, byBucket: [], others: [] };

function viewersIn(
  sums: FactSums,
  period: Period,
  others: readonly Within[],
): UniqueViewers<number> {
  const buckets = bucketsOf(period);
  const weeks = period.granularity === 'week' ? buckets : [];
  const spans = [period, ...others, ...weeks];
  const [total = 0, ...counts] = sums.viewersBySet(spans.length, (key) =>
    spans.flatMap(({ startMs, endMs }, set) =>
      Number(key) >= startMs && Number(key) < endMs ? [set] : [],
    ),
  );
  // Hours and days are groups already.
  const byGroup = sums.viewersByGroup();
  return {
    total,
    others: counts.slice(0, others.length),
    byBucket:
      weeks.length > 0
        ? counts.slice(others.length)
        : buckets.map(({ startMs }) => byGroup.get(startMs) ?? 0),
  };
}

/** @param options.fromMs where to start if that is before the period */
export async function readFilteredSeries(
  db: Db,
  organizationId: OrganizationId,
  period: Period,
  { filter, parts, fromMs }: { filter: ReportFilter; parts: SeriesParts; fromMs?: number },
): Promise<FilteredSeries> {
  const series = new FilteredSeries(period, parts);
  const within = { startMs: fromMs ?? period.startMs, endMs: period.endMs };
  await addFiltered(db, organizationId, { within, filter }, series.parts);
  return series;
}

/** Adds the facts that match a filter to several sums at once. */
export async function addFiltered(
  db: Db,
  organizationId: OrganizationId,
  { within: { startMs, endMs }, filter }: { within: Within; filter: ReportFilter },
  sums: readonly FactSums[],
): Promise<void> {
  const wanted = await toFactFilter(db, organizationId, filter);
  await addFacts(db, organizationId, { startMs, endMs, filter: wanted }, sums);
}
