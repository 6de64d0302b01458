/**
 * The numbers of docs/analytics.md and docs/metrics.md, computed from plain events without any
 * product code: every view and visit is built from all its events at once, and every group from all
 * views.
 */
import type { Part, View } from './views.ts';

const ratio = (part: number, whole: number) => (whole === 0 ? null : part / whole);
export const sum = <One>(all: readonly One[], of: (one: One) => number) =>
  all.reduce((total, one) => total + of(one), 0);
const people = (of: readonly { readonly person: string | null }[]) =>
  new Set(of.map(({ person }) => person).filter((person) => person !== null)).size;
export const countOf = (view: View, kind: string) => view.count[kind] ?? 0;

/** Number of events of a kind; by default, from the events of the views. */
export type Happened = (kind: string) => number;
const toldBy =
  (views: readonly View[]): Happened =>
  (kind) =>
    sum(views, (view) => countOf(view, kind));

export function counts(views: readonly View[], happened: Happened = toldBy(views)) {
  const watched = views.filter(({ isWatched }) => isWatched);
  const share = (is: (view: View) => boolean) => ratio(watched.filter(is).length, watched.length);
  const plays = happened('playStart');
  const reactions = happened('like') + happened('share') + happened('save');
  const completed = sum(views, (view) =>
    Math.min(countOf(view, 'completion'), countOf(view, 'playStart')),
  );
  const timed = views.filter(({ durationMs }) => durationMs > 0);
  const totalWatchTime = sum(views, ({ watchedMs }) => watchedMs) / 1_000;
  const uniqueViewers = people(
    views.filter((view) => view.isWatched || countOf(view, 'completion') > 0),
  );
  const reactingViewers = people(
    views.filter(
      (view) => countOf(view, 'like') + countOf(view, 'share') + countOf(view, 'save') > 0,
    ),
  );
  return {
    impressions: happened('impression'),
    plays,
    completions: happened('completion'),
    totalWatchTime,
    averageWatchTime: ratio(totalWatchTime, plays),
    completionRate: ratio(Math.min(completed, plays), plays),
    engagementRate: ratio(Math.min(reactingViewers, uniqueViewers), uniqueViewers),
    reactionsPerImpression: ratio(reactions, happened('impression')),
    likes: happened('like'),
    shares: happened('share'),
    saves: happened('save'),
    views: watched.length,
    engagedViews: watched.filter(
      (view) => view.watchedMs >= 10_000 || countOf(view, 'completion') > 0,
    ).length,
    hookRate: share(({ watchedMs }) => watchedMs >= 3_000),
    swipeAwayRate: share((view) => countOf(view, 'swipe') > 0 && view.watchedMs < 3_000),
    loopRate: ratio(views.filter(({ replays }) => replays > 0).length, watched.length),
    replays: sum(views, ({ replays }) => replays),
    averagePercentWatched: ratio(
      sum(timed, (view) => Math.round((view.watchedMs / view.durationMs) * 1e7)) / 1e7,
      timed.length,
    ),
    uniqueViewers,
    reactingViewers,
  };
}

export function overview({ views, visits }: Part, hasVisits: boolean, happened?: Happened) {
  return { ...counts(views, happened), sessions: hasVisits ? visits.length : null };
}

export function ofItem({ views }: Part, happened: Happened = toldBy(views)) {
  return { ...counts(views, happened), swipesAway: happened('swipe') };
}

export function ofVisits({ views, visits }: Part, hasVisits: boolean) {
  const each = (total: number) => (hasVisits ? ratio(total, visits.length) : null);
  return {
    sessions: hasVisits ? visits.length : null,
    averageSessionLength: each(sum(visits, ({ begin, end }) => end - begin) / 1_000),
    averageVideosPerSession: each(views.filter(({ isWatched }) => isWatched).length),
    averageWatchTimePerSession: each(sum(views, ({ watchedMs }) => watchedMs) / 1_000),
  };
}

export function engagement(part: Part, hasVisits: boolean) {
  return { ...ofVisits(part, hasVisits), ...counts(part.views) };
}

export const isAttempted = (view: View) => countOf(view, 'playStart') + countOf(view, 'error') > 0;

export function playback(
  { views }: Part,
  startups: readonly number[] = views.flatMap(({ startupMs }) => startupMs ?? []),
) {
  const sorted = startups.toSorted((a, b) => a - b);
  const percentile = (part: number) =>
    sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? null;
  const watchedMs = sum(views, (view) => view.watchedMs);
  const stalledMs = sum(views, (view) => view.stalledMs);
  const attempted = views.filter(isAttempted);
  const offered = views.filter(
    (view) => countOf(view, 'impression') + countOf(view, 'playStart') > 0,
  );
  const left = offered.filter(
    (view) =>
      !view.isWatched &&
      countOf(view, 'error') === 0 &&
      Math.max(view.end - view.begin, view.watchedMs) >= 1_000,
  );
  return {
    startupTime: {
      average: ratio(
        sum(sorted, (one) => one),
        sorted.length,
      ),
      p50: percentile(0.5),
      p75: percentile(0.75),
      p95: percentile(0.95),
      p99: percentile(0.99),
    },
    rebufferRatio: ratio(stalledMs, watchedMs + stalledMs),
    rebuffersPerHour: ratio(
      sum(views, (view) => countOf(view, 'rebuffer')),
      watchedMs / 3_600_000,
    ),
    errorRate: ratio(
      attempted.filter((view) => countOf(view, 'error') > 0).length,
      attempted.length,
    ),
    failuresBeforeStart: ratio(
      attempted.filter(({ isWatched }) => !isWatched).length,
      attempted.length,
    ),
    exitsBeforeStart: ratio(left.length, offered.length),
  };
}

export function quality(part: Part) {
  return {
    views: part.views.filter(({ isWatched }) => isWatched).length,
    attemptedViews: part.views.filter(isAttempted).length,
    erroredViews: part.views.filter((view) => countOf(view, 'error') > 0).length,
    ...playback(part),
  };
}

export function source({ views, visits }: Part, hasVisits: boolean) {
  const all = counts(views);
  return {
    impressions: all.impressions,
    views: all.views,
    plays: all.plays,
    totalWatchTime: all.totalWatchTime,
    averageWatchTime: all.averageWatchTime,
    hookRate: all.hookRate,
    uniqueViewers: all.uniqueViewers,
    followOnPlays: hasVisits ? sum(visits, ({ plays }) => Math.max(0, plays - 1)) : null,
  };
}
