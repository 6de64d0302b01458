/** What is counted in a time, of a part of the audience or of some items, for the recount. */
import type { LoggedEvent } from '../../events/events.ts';
import { rate, total } from './recount-numbers.fixture.ts';
import { hour, isWithin } from './recount-time.fixture.ts';
import {
  subjectOf,
  toViews,
  toVisits,
  viewerOf,
  type View,
  type Visit,
} from './recount-views.fixture.ts';

/** What is counted: a part of the audience, of one item or of all. */
export type Part = {
  contentIds?: ReadonlySet<string>;
  device?: string | null;
  country?: string | null;
};

export class EventCounts {
  readonly events: LoggedEvent[];
  readonly #byKind: Map<string, LoggedEvent[]>;
  readonly #views: View[];
  readonly #visits: Visit[];

  /** Of events that have the same id, one counts. */
  constructor(events: readonly LoggedEvent[]) {
    this.events = [...new Map(events.map((event) => [event.eventId, event])).values()];
    this.#byKind = Map.groupBy(this.events, ({ event }) => event);
    const own = this.events.filter((event) => viewerOf(event) !== null);
    this.#views = toViews(own);
    this.#visits = toVisits(own);
  }

  itemMetrics(id: string, from: number, to: number, audience: Part = {}) {
    const part = { ...audience, contentIds: new Set([id]) };
    return {
      ...this.counted(part, from, to),
      uniqueViewers: this.viewers(part, from, to),
      swipesAway: this.count('swipe', part, from, to),
    };
  }

  counted(part: Part, from: number, to: number) {
    const count = (kind: string) => this.count(kind, part, from, to);
    const [impressions, plays, likes] = [count('impression'), count('playStart'), count('like')];
    const [shares, saves] = [count('share'), count('save')];
    const views = this.viewsOf(part, from, to);
    const totalWatchTime = total(views.map(({ watchMs }) => watchMs)) / 1_000;
    const completed = total(views.map(({ completedPlays }) => completedPlays));
    return {
      impressions,
      plays,
      completions: count('completion'),
      totalWatchTime,
      averageWatchTime: rate(totalWatchTime, plays),
      completionRate: rate(Math.min(completed, plays), plays),
      engagementRate: rate(likes + shares + saves, impressions),
      likes,
      shares,
      saves,
      ...howViewsWent(views),
    };
  }

  sessions(part: Part, from: number, to: number) {
    const visits = this.visitsOf(part, from, to);
    const views = this.viewsOf(part, from, to);
    const lengths = visits.map(({ firstAt, lastAt }) => lastAt - firstAt);
    return {
      sessions: visits.length,
      averageSessionLength: rate(total(lengths) / 1_000, visits.length),
      averageVideosPerSession: rate(views.filter((one) => one.isWatched).length, visits.length),
      averageWatchTimePerSession: rate(
        total(views.map(({ watchMs }) => watchMs)) / 1_000,
        visits.length,
      ),
    };
  }

  playback(from: number, to: number, part: Part = {}) {
    const views = this.viewsOf(part, from, to);
    const watchMs = total(views.map((view) => view.watchMs));
    const stallMs = total(views.map((view) => view.stallMs));
    const attempts = views.filter((view) => view.plays > 0 || view.errors > 0);
    const startable = views.filter((view) => view.impressions > 0 || view.plays > 0);
    const starts = this.events.filter(
      ({ event, at }) => event === 'playStart' && isWithin(at, from, to),
    );
    const times = starts.map(({ data }) => data['startupTime'] as number).toSorted((a, b) => a - b);
    const percentile = (share: number) =>
      times[Math.max(1, Math.ceil(share * times.length)) - 1] ?? null;
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
      exitsBeforeStart: rate(
        startable.filter(
          (view) =>
            !view.isWatched &&
            view.errors === 0 &&
            Math.max(view.lastAt - view.firstAt, view.watchMs) >= 1_000,
        ).length,
        startable.length,
      ),
    };
  }

  /** Whether anything was counted for an item: the list has no lines of zeros. */
  hasRow(id: string, from: number, to: number, audience: Part = {}): boolean {
    const { totalWatchTime, impressions, plays, completions, likes, shares, saves, swipesAway } =
      this.itemMetrics(id, from, to, audience);
    const views = this.#views.filter(
      (view) =>
        view.contentId === id &&
        isOf(audience, view) &&
        isWithin(view.firstAt, from, to) &&
        (view.isWatched || view.errors > 0 || view.stalls > 0),
    );
    const counted = impressions + plays + completions + likes + shares + saves + swipesAway;
    return counted + totalWatchTime + views.length > 0;
  }

  countable(kind: string, part: Part, from: number, to: number): LoggedEvent[] {
    return (this.#byKind.get(kind) ?? []).filter(
      (event) =>
        isWithin(event.at, from, to) && isOf(part, { ...event, contentId: subjectOf(event) }),
    );
  }

  count(kind: string, part: Part, from: number, to: number): number {
    return this.countable(kind, part, from, to).length;
  }

  viewers(part: Part, from: number, to: number): number {
    const kinds = ['playStart', 'watchProgress', 'completion'];
    const events = kinds.flatMap((kind) => this.countable(kind, part, from, to));
    return new Set(events.map(viewerOf).filter((viewer) => viewer !== null)).size;
  }

  viewsOf(part: Part, from: number, to: number): View[] {
    return this.#views.filter((view) => isWithin(view.firstAt, from, to) && isOf(part, view));
  }

  visitsOf(part: Part, from: number, to: number): Visit[] {
    return this.#visits.filter((visit) => isWithin(visit.firstAt, from, to) && isOf(part, visit));
  }
}

function howViewsWent(all: readonly View[]) {
  const views = all.filter(({ isWatched }) => isWatched);
  const of = (is: (view: View) => boolean) => views.filter(is).length;
  return {
    views: views.length,
    engagedViews: of((view) => view.watchMs >= 10_000 || view.completions > 0),
    hookRate: rate(
      of(({ watchMs }) => watchMs >= 3_000),
      views.length,
    ),
    swipeAwayRate: rate(
      of(({ watchMs, swipes }) => swipes > 0 && watchMs < 3_000),
      views.length,
    ),
    loopRate: rate(all.filter(({ replays }) => replays > 0).length, views.length),
    replays: total(all.map(({ replays }) => replays)),
    averagePercentWatched: percentWatched(all),
  };
}

export function percentWatched(views: readonly View[]): number | null {
  const measured = views.filter(({ durationMs }) => durationMs > 0);
  const permille = measured.map(({ watchMs, durationMs }) =>
    Math.round((1_000 * watchMs) / durationMs),
  );
  return rate(total(permille) / 1_000, measured.length);
}

function isOf(
  { contentIds, device, country }: Part,
  one: { contentId?: string; device?: string | null; country?: string | null },
): boolean {
  return (
    (contentIds === undefined || contentIds.has(one.contentId ?? '')) &&
    (device === undefined || (one.device ?? null) === device) &&
    (country === undefined || (one.country ?? null) === country)
  );
}
