/** Recounts the metrics of the views and sessions that match a filter. */
import { engagement, howViewsWent, peopleOf } from './recount-counts.ts';
import { by, rate, total } from './recount-numbers.ts';
import { playbackMetrics, sessionMetrics } from './recount-playback.ts';
import { isWithin } from './recount-time.ts';
import type { View, Visit } from './recount-views.ts';

export type Filter = {
  device?: string;
  country?: string;
  entryPoint?: string;
  appVersion?: string;
  tag?: string;
  contentId?: string;
};

/** The views and sessions of a report. */
export type Part = { views: readonly View[]; visits: readonly Visit[] };

export function isAboutItems({ tag, contentId }: Filter): boolean {
  return tag !== undefined || contentId !== undefined;
}

export function within({ views, visits }: Part, from: number, to: number): Part {
  const begins = ({ firstAt }: { firstAt: number }) => isWithin(firstAt, from, to);
  return { views: views.filter(begins), visits: visits.filter(begins) };
}

export function counted(views: readonly View[]) {
  const sum = (of: (view: View) => number) => total(views.map(of));
  const [impressions, plays, likes] = [
    sum((view) => view.impressions),
    sum((view) => view.plays),
    sum((view) => view.likes),
  ];
  const [shares, saves] = [sum((view) => view.shares), sum((view) => view.saves)];
  const people = peopleOf(views);
  const totalWatchTime = sum(({ watchMs }) => watchMs) / 1_000;
  return {
    impressions,
    plays,
    completions: sum(({ completions }) => completions),
    totalWatchTime,
    averageWatchTime: rate(totalWatchTime, plays),
    completionRate: rate(
      Math.min(
        sum((view) => view.completedPlays),
        plays,
      ),
      plays,
    ),
    engagementRate: engagement(people),
    reactionsPerImpression: rate(likes + shares + saves, impressions),
    likes,
    shares,
    saves,
    ...howViewsWent(views),
    ...people,
  };
}

/** Views with nothing but withdrawn likes and quality changes do not count. */
export function hasCounts(views: readonly View[]): boolean {
  return views.some(
    (view) =>
      view.impressions + view.plays + view.completions + view.likes + view.shares > 0 ||
      view.saves + view.swipes + view.errors + view.stalls + view.watchMs > 0 ||
      view.isWatched ||
      view.durationMs > 0,
  );
}

export function itemMetrics(views: readonly View[]) {
  return {
    ...counted(views),
    swipesAway: total(views.map(({ swipes }) => swipes)),
  };
}

export function viewersOf(views: readonly View[]): number {
  return peopleOf(views).uniqueViewers;
}

export const noSessions = {
  sessions: null,
  averageSessionLength: null,
  averageVideosPerSession: null,
  averageWatchTimePerSession: null,
};

export function byAudience(
  part: Part,
  kind: 'device' | 'country',
  present: (part: Part) => object,
) {
  const labels = new Set([...part.views, ...part.visits].map((one) => one[kind]));
  return [...labels]
    .map((label) => ({
      label,
      own: {
        views: part.views.filter((one) => one[kind] === label),
        visits: part.visits.filter((one) => one[kind] === label),
      },
    }))
    .filter(({ own }) => own.visits.length > 0 || hasCounts(own.views))
    .map(({ label, own }) => ({ segment: label, ...present(own), ...counted(own.views) }))
    .toSorted(by('plays', 'segment'));
}

export function breakdown(views: readonly View[], kind: 'device' | 'country') {
  return [...Map.groupBy(views, (view) => view[kind])]
    .map(([label, own]) => ({
      [kind]: label,
      plays: total(own.map(({ plays }) => plays)),
      totalWatchTime: total(own.map(({ watchMs }) => watchMs)) / 1_000,
    }))
    .filter(({ plays, totalWatchTime }) => Number(plays) > 0 || Number(totalWatchTime) > 0)
    .toSorted(by('plays', kind));
}

export function sessions({ views, visits }: Part) {
  return sessionMetrics(views, visits);
}

export function playback(views: readonly View[]) {
  const startups = views.flatMap(({ startup }) => (startup === null ? [] : [startup]));
  return playbackMetrics(views, startups);
}
