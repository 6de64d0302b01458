/** Counters become metrics: the formulas of docs/analytics.md. */

import { audienceColumns, type contentColumns } from '../engagement/contribution.ts';

export type Counters = Readonly<Record<(typeof contentColumns)[number], number>>;
/** `audience_counter` knows sessions as well. */
export type AudienceCounters = Readonly<Record<(typeof audienceColumns)[number], number>>;

export const noCounters: AudienceCounters = {
  impressions: 0,
  plays: 0,
  completions: 0,
  likes: 0,
  shares: 0,
  saves: 0,
  swipes_away: 0,
  views: 0,
  completed_plays: 0,
  watch_ms: 0,
  stalls: 0,
  stall_ms: 0,
  attempted_views: 0,
  errored_views: 0,
  startable_views: 0,
  exits_before_start: 0,
  measured_views: 0,
  watched_permille: 0,
  sessions: 0,
  session_ms: 0,
};

/** All of them together; content counters have no sessions. */
export function sumCounters(
  parts: Iterable<Counters & Partial<AudienceCounters>>,
): AudienceCounters {
  const sum: Record<(typeof audienceColumns)[number], number> = { ...noCounters };
  for (const part of parts) {
    for (const column of audienceColumns) sum[column] += part[column] ?? 0;
  }
  return sum;
}

/** Null without a denominator: an answer never holds NaN or Infinity. */
export function ratio(numerator: number, denominator: number): number | null {
  return denominator === 0 ? null : numerator / denominator;
}

export function seconds(ms: number): number {
  return ms / 1_000;
}

/**
 * What a set of events and views adds up to. A view counts where it began and a play where it
 * happened, so a view that began right before the hour can put a completed play into an hour with
 * fewer plays: the completion rate is cut at 1.
 */
export function presentCounted(counters: Counters) {
  const { impressions, plays, completions, likes, shares, saves } = counters;
  return {
    impressions,
    plays,
    completions,
    totalWatchTime: seconds(counters.watch_ms),
    averageWatchTime: ratio(seconds(counters.watch_ms), plays),
    completionRate: ratio(Math.min(counters.completed_plays, plays), plays),
    engagementRate: ratio(likes + shares + saves, impressions),
    likes,
    shares,
    saves,
  };
}

export function presentSessions(counters: AudienceCounters) {
  const { sessions } = counters;
  return {
    sessions,
    averageSessionLength: ratio(seconds(counters.session_ms), sessions),
    averageVideosPerSession: ratio(counters.views, sessions),
    averageWatchTimePerSession: ratio(seconds(counters.watch_ms), sessions),
  };
}

export function presentPlayback(counters: Counters) {
  const watchedHours = counters.watch_ms / 3_600_000;
  return {
    rebufferRatio: ratio(counters.stall_ms, counters.watch_ms),
    rebuffersPerHour: ratio(counters.stalls, watchedHours),
    errorRate: ratio(counters.errored_views, counters.attempted_views),
    exitsBeforeStart: ratio(counters.exits_before_start, counters.startable_views),
  };
}
