/** Computes metrics from counters, with the formulas of docs/analytics.md. */

import {
  audienceColumns,
  watchedShareUnits,
  type contentColumns,
} from '../projections/engagement/contribution.ts';
import { byCountMetric } from '../projections/engagement/counted-kinds.ts';

export type Counters = Readonly<Record<(typeof contentColumns)[number], number>>;
/** `audience_counter` also counts sessions. */
export type AudienceCounters = Readonly<Record<(typeof audienceColumns)[number], number>>;

type Sums = Record<(typeof audienceColumns)[number], number>;

export const noCounters = Object.freeze(
  Object.fromEntries(audienceColumns.map((column) => [column, 0])),
) as AudienceCounters;

/** Adds counters up; content counters have no sessions. */
export function sumCounters(
  parts: Iterable<Counters & Partial<AudienceCounters>>,
): AudienceCounters {
  const sum: Sums = { ...noCounters };
  for (const part of parts) {
    for (const column of audienceColumns) sum[column] += part[column] ?? 0;
  }
  return sum;
}

/** Null if the denominator is zero, so that responses never contain NaN or Infinity. */
export function ratio(numerator: number, denominator: number): number | null {
  return denominator === 0 ? null : numerator / denominator;
}

export function toSeconds(ms: number): number {
  return ms / 1_000;
}

/** Unique viewers who watched, and who liked, shared or saved; null if unknown. */
export type PeopleOf<N extends number | null> = {
  readonly uniqueViewers: N;
  readonly reactingViewers: N;
};
export type ViewerCounts = PeopleOf<number>;

export const noViewers: ViewerCounts = { uniqueViewers: 0, reactingViewers: 0 };

/**
 * The share of viewers who reacted. A viewer who reacts without watching in the period counts only
 * in the numerator, so the rate is capped at 1.
 */
export function engagementRateOf(people: PeopleOf<number | null>): number | null {
  const { uniqueViewers, reactingViewers } = people;
  if (uniqueViewers === null || reactingViewers === null) return null;
  return ratio(Math.min(reactingViewers, uniqueViewers), uniqueViewers);
}

/**
 * The metrics of a set of events and views. A view counts when it began and a play when it
 * happened, so a view that began just before the hour may add a completed play to an hour with
 * fewer plays. The completion rate is therefore capped at 1.
 */
export function presentCounted<N extends number | null>(counters: Counters, people: PeopleOf<N>) {
  const { impressions, plays, completions, likes, shares, saves } = counters;
  return {
    impressions,
    plays,
    completions,
    totalWatchTime: toSeconds(counters.watch_ms),
    averageWatchTime: ratio(toSeconds(counters.watch_ms), plays),
    completionRate: ratio(Math.min(counters.completed_plays, plays), plays),
    engagementRate: engagementRateOf(people),
    reactionsPerImpression: ratio(likes + shares + saves, impressions),
    ...byCountMetric((metric) => counters[metric]),
    ...presentViews(counters),
    uniqueViewers: people.uniqueViewers,
    reactingViewers: people.reactingViewers,
  };
}

/** Metrics of views; see docs/metrics.md. */
function presentViews(counters: Counters) {
  const { views } = counters;
  return {
    views,
    engagedViews: counters.engaged_views,
    hookRate: ratio(counters.hooked_views, views),
    swipeAwayRate: ratio(counters.swiped_views, views),
    loopRate: ratio(counters.replayed_views, views),
    replays: counters.replays,
    averagePercentWatched: percentWatched(counters),
  };
}

/** Mean of watch time divided by duration. */
export function percentWatched(counters: Counters): number | null {
  return ratio(counters.watched_share / watchedShareUnits, counters.measured_views);
}

export function presentSessions(counters: AudienceCounters) {
  const { sessions } = counters;
  return {
    sessions,
    averageSessionLength: ratio(toSeconds(counters.session_ms), sessions),
    averageVideosPerSession: ratio(counters.views, sessions),
    averageWatchTimePerSession: ratio(toSeconds(counters.watch_ms), sessions),
  };
}

export function presentPlayback(counters: Counters) {
  const watchedHours = counters.watch_ms / 3_600_000;
  return {
    rebufferRatio: ratio(counters.stall_ms, counters.watch_ms + counters.stall_ms),
    rebuffersPerHour: ratio(counters.stalls, watchedHours),
    errorRate: ratio(counters.errored_views, counters.attempted_views),
    failuresBeforeStart: ratio(counters.failures_before_start, counters.attempted_views),
    exitsBeforeStart: ratio(counters.exits_before_start, counters.startable_views),
  };
}
