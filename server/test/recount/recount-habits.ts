/** Recounts viewers, frequency and viewing times from given views, sessions and events. */
import { peopleOf } from './recount-counts.ts';
import { rate, total } from './recount-numbers.ts';
import { day, dayOf } from './recount-time.ts';
import type { View } from './recount-views.ts';

/** @param likes and unlikes from events without a filter, from the views with one */
export function viewersReport(views: readonly View[], likes: number, unlikes: number) {
  const watching = views.filter((view) => view.isWatched || view.completions > 0);
  const byViewer = Map.groupBy(watching, ({ viewer }) => viewer);
  const days = [...byViewer.values()].map(
    (own) => new Set(own.map(({ firstAt }) => dayOf(firstAt))).size,
  );
  const people = peopleOf(views);
  const between = (daysFrom: number, daysTo: number | null) => {
    const viewers = days.filter((one) => one >= daysFrom && one <= (daysTo ?? Infinity)).length;
    return { daysFrom, daysTo, viewers, share: rate(viewers, people.uniqueViewers) };
  };
  return {
    ...people,
    likers: new Set(views.filter((view) => view.likes > 0).map(({ viewer }) => viewer)).size,
    likes,
    unlikes,
    netLikes: likes - unlikes,
    frequency: [between(1, 1), between(2, 3), between(4, 7), between(8, 14), between(15, null)],
  };
}

export type Happened = {
  impressions: number[];
  plays: number[];
  likes: number[];
  views: { firstAt: number; watchMs: number; isWatched: boolean }[];
  sessions: number[] | null;
};

/** @param happened times within the range at which things happened */
export function hoursReport(happened: Happened, from: number, to: number) {
  const cellOf = (at: number) => `${new Date(at).getUTCDay()} ${new Date(at).getUTCHours()}`;
  const days: number[] = [];
  for (let at = from; at < to && at <= Date.now(); at += day) days.push(new Date(at).getUTCDay());
  return Array.from({ length: 168 }, (_, index) => {
    const weekday = Math.floor(index / 24) + 1;
    const at = index % 24;
    const name = `${weekday % 7} ${at}`;
    const count = (moments: readonly number[]) =>
      moments.filter((moment) => cellOf(moment) === name).length;
    const views = happened.views.filter(({ firstAt }) => cellOf(firstAt) === name);
    return {
      weekday,
      hour: at,
      days: days.filter((one) => one === weekday % 7).length,
      impressions: count(happened.impressions),
      plays: count(happened.plays),
      views: views.filter(({ isWatched }) => isWatched).length,
      totalWatchTime: total(views.map(({ watchMs }) => watchMs)) / 1_000,
      likes: count(happened.likes),
      sessions: happened.sessions === null ? null : count(happened.sessions),
    };
  });
}

/** One timestamp per count of a view, at the start of the view. */
export function momentsOf(views: readonly View[], times: (view: View) => number): number[] {
  return views.flatMap((view) => Array.from({ length: times(view) }, () => view.firstAt));
}
