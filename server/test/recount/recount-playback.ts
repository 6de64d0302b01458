/** Session and playback metrics of given views and sessions, for both recounts. */
import { rate, total } from './recount-numbers.ts';
import { hour } from './recount-time.ts';
import type { View, Visit } from './recount-views.ts';

export function sessionMetrics(views: readonly View[], visits: readonly Visit[]) {
  const lengths = visits.map(({ firstAt, lastAt }) => lastAt - firstAt);
  const watched = views.filter(({ isWatched }) => isWatched).length;
  const watchMs = total(views.map((view) => view.watchMs));
  return {
    sessions: visits.length,
    averageSessionLength: rate(total(lengths) / 1_000, visits.length),
    averageVideosPerSession: rate(watched, visits.length),
    averageWatchTimePerSession: rate(watchMs / 1_000, visits.length),
  };
}

/** @param startupTimes in milliseconds, in any order */
export function playbackMetrics(views: readonly View[], startupTimes: readonly number[]) {
  const watchMs = total(views.map((view) => view.watchMs));
  const stallMs = total(views.map((view) => view.stallMs));
  const attempts = views.filter((view) => view.plays > 0 || view.errors > 0);
  const startable = views.filter((view) => view.impressions > 0 || view.plays > 0);
  const times = startupTimes.toSorted((a, b) => a - b);
  const percentile = (share: number) =>
    times[Math.max(1, Math.ceil(share * times.length)) - 1] ?? null;
  const left = (view: View) =>
    !view.isWatched &&
    view.errors === 0 &&
    Math.max(view.lastAt - view.firstAt, view.watchMs) >= 1_000;
  return {
    startupTime: {
      average: rate(total(times), times.length),
      p50: percentile(0.5),
      p75: percentile(0.75),
      p95: percentile(0.95),
      p99: percentile(0.99),
    },
    rebufferRatio: rate(stallMs, watchMs + stallMs),
    rebuffersPerHour: rate(total(views.map(({ stalls }) => stalls)), watchMs / hour),
    errorRate: rate(attempts.filter(({ errors }) => errors > 0).length, attempts.length),
    failuresBeforeStart: rate(attempts.filter((view) => !view.isWatched).length, attempts.length),
    exitsBeforeStart: rate(startable.filter(left).length, startable.length),
  };
}
