/**
 * The data source of reports. Two implementations give the same results: an organization's rollups,
 * which count every event as it arrives, and the facts of single views and sessions, which can be
 * filtered.
 */
import type { Breakdown } from '../projections/engagement/content-detail.ts';
import type { AudienceSegment, Series } from './counter-queries.ts';
import type { AudienceCounters, Counters, ViewerCounts } from './metrics.ts';
import type { MovedItem, MoversRequest } from './movers-query.ts';
import type { PeopleCounts, UniqueViewers } from './people-counts.ts';
import type { Period } from './period.ts';
import type { QualityCount } from './quality-queries.ts';
import type { SegmentKind } from './query-schemas.ts';
import type { RetentionCount } from './retention-queries.ts';

export type CountSource = {
  /**
   * Whether session metrics are available. A session spans many items, so single items have none.
   */
  readonly hasSessions: boolean;

  /**
   * The counters of each hour or day, and unique viewers of the period and of other spans of days.
   */
  overTime(period: Period, others: readonly Period[]): Promise<OverTime>;

  /** The hourly counters from which the hours of the week are computed. */
  byHour(period: Period): Promise<Series<AudienceCounters>>;

  /**
   * The counters over time, and split by device, country or tag, most played first; '' means
   * unknown.
   */
  bySegment(
    period: Period,
    kind: SegmentKind,
  ): Promise<{ series: Series<AudienceCounters>; segments: CountedSegment[] }>;

  ofItem(period: Period, contentId: string): Promise<ReportItemCounts>;

  /**
   * Playback statistics. `lists` counts labels sent by clients, or is null if facts provide them.
   */
  playback(period: Period): Promise<{
    series: Series<AudienceCounters>;
    startups: StartupCount[];
    lists: QualityCount[] | null;
  }>;

  /**
   * Active viewers of a month and of its last week and day, and new and returning viewers by day
   * since 1970.
   */
  audience(
    period: Period,
    spans: readonly [month: Period, week: Period, day: Period],
  ): Promise<{ active: UniqueViewers; byDay: Map<number, DayCounts> }>;

  /** Viewers by their first day and the days on which they returned. */
  cohorts(period: Period): Promise<RetentionCount[]>;

  /** The items with the largest change, largest first. */
  moved(query: MoversRequest): Promise<MovedItem[]>;
};

export type OverTime = {
  readonly series: Series<AudienceCounters>;
  /** The sums of each of the other spans. */
  readonly others: readonly AudienceCounters[];
  readonly people: PeopleCounts<number>;
};

export type CountedSegment = AudienceSegment<Counters & Partial<AudienceCounters>> & {
  readonly people: ViewerCounts;
};

export type ReportItemCounts = {
  readonly series: Series<Counters>;
  readonly people: PeopleCounts;
  readonly devices: Breakdown;
  readonly countries: Breakdown;
  /** Views by how far they got, in seconds from `positionStep`. */
  readonly positions: ReadonlyMap<number, number>;
  /** End positions of replays within views, or null if unknown. */
  readonly reruns: ReadonlyMap<number, number> | null;
};

export type StartupCount = {
  readonly startMs: number;
  readonly bucket: number;
  readonly count: number;
  readonly total: number;
};

export type DayCounts = { newViewers: number; returningViewers: number };
