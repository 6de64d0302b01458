/** Recounts what happened within a time range for a part of the audience or for some items. */
import type { LoggedEvent } from '../../src/features/events/events.ts';
import { rate, total } from './recount-numbers.ts';
import { playbackMetrics, sessionMetrics } from './recount-playback.ts';
import { isWithin } from './recount-time.ts';
import { subjectOf, toViews, toVisits, viewerOf, type View, type Visit } from './recount-views.ts';

export type RecountedItem = {
  id: string;
  title: string;
  tags: string[];
  author?: string;
  section?: string;
  language?: string;
};

/** The subset to count: a part of the audience, of some items or of all. */
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

  /** Events with the same id count once. */
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
      swipesAway: this.count('swipe', part, from, to),
    };
  }

  /**
   * Without a device or country, viewers count at the time of their events, otherwise at the start
   * of the view.
   */
  people(part: Part, from: number, to: number): Reacting {
    return {
      uniqueViewers: this.viewers(part, from, to),
      reactingViewers: distinct(
        ['like', 'share', 'save']
          .flatMap((kind) => this.countable(kind, part, from, to))
          .map(viewerOf),
      ),
    };
  }

  counted(part: Part, from: number, to: number, people = this.people(part, from, to)) {
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
      engagementRate: engagement(people),
      reactionsPerImpression: rate(likes + shares + saves, impressions),
      likes,
      shares,
      saves,
      ...howViewsWent(views),
      ...people,
    };
  }

  sessions(part: Part, from: number, to: number) {
    return sessionMetrics(this.viewsOf(part, from, to), this.visitsOf(part, from, to));
  }

  playback(from: number, to: number, part: Part = {}) {
    const starts = this.events.filter(
      ({ event, at }) => event === 'playStart' && isWithin(at, from, to),
    );
    const times = starts.map(({ data }) => data['startupTime'] as number);
    return playbackMetrics(this.viewsOf(part, from, to), times);
  }

  /** Whether anything was counted for an item. The list omits items without counts. */
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

export type Reacting = { uniqueViewers: number; reactingViewers: number };

export function distinct(viewers: readonly (string | null)[]): number {
  return new Set(viewers.filter((viewer) => viewer !== null)).size;
}

/** The viewers of the views of a segment or a filter. */
export function peopleOf(views: readonly View[]): Reacting {
  const watching = views.filter((view) => view.isWatched || view.completions > 0);
  const reacting = views.filter(({ likes, shares, saves }) => likes + shares + saves > 0);
  return {
    uniqueViewers: distinct(watching.map(({ viewer }) => viewer)),
    reactingViewers: distinct(reacting.map(({ viewer }) => viewer)),
  };
}

export function engagement({ uniqueViewers, reactingViewers }: Reacting): number | null {
  return rate(Math.min(uniqueViewers, reactingViewers), uniqueViewers);
}

export function howViewsWent(all: readonly View[]) {
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

/** Rounded to a ten-millionth per view, so that sums do not depend on the order. */
export function percentWatched(views: readonly View[]): number | null {
  const measured = views.filter(({ durationMs }) => durationMs > 0);
  const shares = measured.map(({ watchMs, durationMs }) =>
    Math.round((watchMs / durationMs) * 1e7),
  );
  return rate(total(shares) / 1e7, measured.length);
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
