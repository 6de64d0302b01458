/**
 * What reports are made from. Two sources give the same answers: the roll-ups of an organization, which
 * count every event as it comes, and the facts of single views and sessions, from which a filter chooses.
 */
import type { Breakdown } from '../projections/engagement/content-detail.ts';
import type { Segment, Series } from './counter-queries.ts';
import type { AudienceCounters, Counters, People } from './metrics.ts';
import type { MovedItem, MoversQuery } from './movers-query.ts';
import type { PeopleCounts, UniqueViewers } from './people-counts.ts';
import type { Period } from './period.ts';
import type { QualityCount } from './quality-queries.ts';
import type { SegmentKind } from './query-schemas.ts';
import type { RetentionCount } from './retention-queries.ts';

export type CountSource = {
  /** Whether sessions can be told. They are about many items, so single items have none. */
  readonly hasSessions: boolean;

  /** The counters of each hour or day, and different viewers of the period and of other spans of days. */
  overTime(period: Period, others: readonly Period[]): Promise<OverTime>;

  /** The counters of each hour that the hours of the week are made from. */
  byHour(period: Period): Promise<Series<AudienceCounters>>;

  /** The counters over time, and split by device, country or tag, the most played first; '' is unknown. */
  bySegment(
    period: Period,
    kind: SegmentKind,
  ): Promise<{ series: Series<AudienceCounters>; segments: CountedSegment[] }>;

  /** The numbers and distributions of one item. */
  ofItem(period: Period, contentId: string): Promise<ItemCounts>;

  /** How playback went. `lists` are the counts of what clients name; null where facts tell them. */
  playback(period: Period): Promise<{
    series: Series<AudienceCounters>;
    startups: StartupCount[];
    lists: QualityCount[] | null;
  }>;

  /** Active viewers of a month and of its last week and day; new and returning ones by day since 1970. */
  audience(
    period: Period,
    spans: readonly [month: Period, week: Period, day: Period],
  ): Promise<{ active: UniqueViewers; byDay: Map<number, DayCounts> }>;

  /** Viewers by their first day and the days on which they were back. */
  cohorts(period: Period): Promise<RetentionCount[]>;

  /** The items that moved most, the greatest difference first. */
  moved(query: MoversQuery): Promise<MovedItem[]>;
};

export type OverTime = {
  readonly series: Series<AudienceCounters>;
  /** The sums of each of the other spans. */
  readonly others: readonly AudienceCounters[];
  readonly people: PeopleCounts<number>;
};

export type CountedSegment = Segment<Counters & Partial<AudienceCounters>> & {
  readonly people: People;
};

export type ItemCounts = {
  readonly series: Series<Counters>;
  readonly people: PeopleCounts;
  readonly devices: Breakdown;
  readonly countries: Breakdown;
  /** Views by how far they got, in seconds as `positionStep` gives them. */
  readonly positions: ReadonlyMap<number, number>;
  /** Where further runs of the same views ended; null where that is not known. */
  readonly reruns: ReadonlyMap<number, number> | null;
};

export type StartupCount = {
  readonly startMs: number;
  readonly bucket: number;
  readonly count: number;
  readonly total: number;
};

export type DayCounts = { newViewers: number; returningViewers: number };
