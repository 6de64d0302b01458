/**
 * Recounts the responses of the analytics API from plain arrays of events, following the
 * definitions in docs/analytics.md. It shares no code with what it checks: each bucket is counted
 * from all events, which is slow and simple.
 */
import type { LoggedEvent } from '../../src/features/events/events.ts';
import {
  EventCounts,
  peopleOf,
  percentWatched,
  type Part,
  type RecountedItem,
} from './recount-counts.ts';
import { hoursReport, viewersReport } from './recount-habits.ts';
import { by, movement, rate, total } from './recount-numbers.ts';
import {
  bucketsOf,
  comparedLength,
  day,
  dayOf,
  isWithin,
  spanOf,
  type Range,
} from './recount-time.ts';
import { dropoff, durationOf, messagesOf, viewerOf, watchedCurve } from './recount-views.ts';

export type { Range } from './recount-time.ts';
export type { RecountedItem } from './recount-counts.ts';

const unknownPeople = { uniqueViewers: null, reactingViewers: null, engagementRate: null };

export class Recount {
  readonly #counts: EventCounts;
  readonly #items: readonly RecountedItem[];

  constructor(events: readonly LoggedEvent[], items: readonly RecountedItem[]) {
    this.#counts = new EventCounts(events);
    this.#items = items;
  }

  overview(range: Range) {
    const { from, to } = spanOf(range);
    const summary = this.#overview(from, to);
    const length = comparedLength(range);
    const start = from - (to - from);
    const compared = this.#overview(from, from + length);
    const before = this.#overview(start, start + length);
    return {
      summary,
      timeseries: bucketsOf(range).map((one) => ({
        date: one.date,
        ...this.#overview(one.from, one.to),
      })),
      comparison: Object.fromEntries(
        Object.entries(compared).map(([name, now]) => [
          name,
          movement(now, before[name as keyof typeof before]),
        ]),
      ),
    };
  }

  /** Most plays first. */
  content(range: Range) {
    const { from, to } = spanOf(range);
    return this.#items
      .map(({ id, title }) => ({
        contentId: id,
        title,
        metrics: this.#counts.itemMetrics(id, from, to),
        previous: this.#counts.itemMetrics(id, from - (to - from), from),
      }))
      .filter(({ contentId }) => this.#counts.hasRow(contentId, from, to))
      .toSorted(
        (a, b) => b.metrics.plays - a.metrics.plays || (a.contentId < b.contentId ? 1 : -1),
      );
  }

  item(id: string, range: Range) {
    const { from, to } = spanOf(range);
    const views = this.#counts.viewsOf({ contentIds: new Set([id]) }, from, to);
    return {
      contentId: id,
      title: this.#items.find((item) => item.id === id)?.title,
      summary: this.#counts.itemMetrics(id, from, to),
      timeseries: bucketsOf(range).map((one) => ({
        date: one.date,
        ...this.#counts.itemMetrics(id, one.from, one.to),
        ...(range.granularity === 'hour' && unknownPeople),
      })),
      devices: this.#breakdown(id, 'device', from, to),
      countries: this.#breakdown(id, 'country', from, to),
      engagement: {
        averagePercentWatched: percentWatched(views),
        dropoffPoints: dropoff(views.filter(({ isWatched }) => isWatched)),
        watchedPoints: watchedCurve(views.filter(({ isWatched }) => isWatched)),
      },
    };
  }

  engagement(range: Range, kind: 'device' | 'country' | 'tag') {
    const { from, to } = spanOf(range);
    return {
      summary: this.#counts.sessions({}, from, to),
      segments: kind === 'tag' ? this.#byTag(from, to) : this.#byAudience(kind, from, to),
      timeseries: bucketsOf(range).map((one) => ({
        date: one.date,
        ...this.#counts.sessions({}, one.from, one.to),
      })),
    };
  }

  viewers(range: Range) {
    const { from, to } = spanOf(range);
    const views = this.#counts.viewsOf({}, from, to);
    const count = (kind: string) => this.#counts.count(kind, {}, from, to);
    return viewersReport(views, count('like'), count('unlike'));
  }

  hours(range: Range) {
    const { from, to } = spanOf(range);
    const moments = (kind: string) =>
      this.#counts.countable(kind, {}, from, to).map(({ at }) => at);
    const happened = {
      impressions: moments('impression'),
      plays: moments('playStart'),
      likes: moments('like'),
      views: this.#counts.viewsOf({}, from, to),
      sessions: this.#counts.visitsOf({}, from, to).map(({ firstAt }) => firstAt),
    };
    return hoursReport(happened, from, to);
  }

  quality(range: Range) {
    const { from, to } = spanOf(range);
    const within = this.#counts.events.filter(({ at }) => isWithin(at, from, to));
    const of = (kind: string, field: string) =>
      Map.groupBy(
        within.filter(({ event }) => event === kind),
        ({ data }) => (data[field] as string | undefined) ?? null,
      );
    const [played, watched, stalled, switched] = [
      of('playStart', 'rendition'),
      of('watchProgress', 'rendition'),
      of('rebuffer', 'rendition'),
      of('qualityChange', 'toQuality'),
    ];
    const labels = new Set([played, watched, stalled, switched].flatMap((map) => [...map.keys()]));
    const renditions = [...labels].map((rendition) => ({
      rendition,
      ...startups(played.get(rendition) ?? []),
      progressReports: watched.get(rendition)?.length ?? 0,
      rebuffers: stalled.get(rendition)?.length ?? 0,
      rebufferTime: total((stalled.get(rendition) ?? []).map(durationOf)) / 1_000,
      switchesTo: switched.get(rendition)?.length ?? 0,
    }));
    return {
      summary: this.#counts.playback(from, to),
      renditions: renditions.toSorted(by('plays', 'rendition')),
      codecs: [...of('playStart', 'codec')]
        .map(([codec, events]) => ({ codec, ...startups(events) }))
        .toSorted(by('plays', 'codec')),
      errors: this.#errors(range),
      timeseries: bucketsOf(range).map((one) => ({
        date: one.date,
        ...this.#counts.playback(one.from, one.to),
      })),
    };
  }

  retention(range: Range, nowMs: number) {
    const { from, to } = spanOf(range);
    const active = Map.groupBy(
      this.#counts.events.filter((event) => viewerOf(event) !== null),
      viewerOf,
    );
    const viewers = [...active.values()].map(
      (events) => new Set(events.map(({ at }) => dayOf(at))),
    );
    const lastDay = dayOf(Math.min(to - 1, nowMs));
    return {
      cohorts: bucketsOf(range).map((one) => {
        const cohort = viewers.filter((days) =>
          isWithin(Math.min(...days), Math.max(one.from, from), one.to),
        );
        const retention: number[] = [];
        for (let n = 0; ; n += 1) {
          const old = cohort.filter((days) => Math.min(...days) + n * day <= lastDay);
          if (old.length === 0) break;
          retention.push(
            old.filter((days) => days.has(Math.min(...days) + n * day)).length / old.length,
          );
        }
        return { date: one.date, size: cohort.length, retention };
      }),
    };
  }

  /** Errors are counted by event, their messages by view. */
  #errors(range: Range) {
    const { from, to } = spanOf(range);
    const happened = (start: number, end: number) =>
      Map.groupBy(
        this.#counts.countable('error', {}, start, end),
        ({ data }) => (data['errorCode'] as string | undefined) ?? null,
      );
    const start = from - (to - from);
    const before = happened(start, start + comparedLength(range));
    const failed = this.#counts.viewsOf({}, from, to).filter(({ errors }) => errors > 0);
    return [...happened(from, to)]
      .map(([code, { length }]) => {
        const previous = before.get(code)?.length ?? 0;
        const same = failed.filter(({ errorCode }) => errorCode === code);
        return {
          code,
          count: length,
          previous,
          change: rate(length - previous, previous),
          messages: messagesOf(same),
        };
      })
      .toSorted(by('count', 'code'));
  }

  #overview(from: number, to: number) {
    return {
      ...this.#counts.counted({}, from, to),
      sessions: this.#counts.visitsOf({}, from, to).length,
    };
  }

  #segment(part: Part, from: number, to: number) {
    return this.#counts.counted(part, from, to, peopleOf(this.#counts.viewsOf(part, from, to)));
  }

  #byAudience(kind: 'device' | 'country', from: number, to: number) {
    const labels = new Set(
      [
        ...this.#counts.events.filter(({ at, event }) => isWithin(at, from, to) && isPlain(event)),
        ...this.#counts.viewsOf({}, from, to),
        ...this.#counts.visitsOf({}, from, to),
      ].map((one) => one[kind] ?? null),
    );
    return [...labels]
      .map((label) => ({
        segment: label,
        ...this.#counts.sessions({ [kind]: label }, from, to),
        ...this.#segment({ [kind]: label }, from, to),
      }))
      .toSorted(by('plays', 'segment'));
  }

  #byTag(from: number, to: number) {
    const active = this.#items.filter(({ id }) => this.#counts.hasRow(id, from, to));
    return [...new Set(active.flatMap(({ tags }) => tags))]
      .map((tag) => {
        const own = this.#items.filter(({ tags }) => tags.includes(tag));
        return {
          segment: tag,
          sessions: null,
          averageSessionLength: null,
          averageVideosPerSession: null,
          averageWatchTimePerSession: null,
          ...this.#segment({ contentIds: new Set(own.map(({ id }) => id)) }, from, to),
        };
      })
      .toSorted(by('plays', 'segment'));
  }

  #breakdown(id: string, kind: 'device' | 'country', from: number, to: number) {
    const part = { contentIds: new Set([id]) };
    const plays = this.#counts.countable('playStart', part, from, to);
    const views = this.#counts.viewsOf(part, from, to).filter(({ watchMs }) => watchMs > 0);
    const labels = new Set([...plays, ...views].map((one) => one[kind] ?? null));
    return [...labels]
      .map((label) => ({
        [kind]: label,
        plays: plays.filter((event) => (event[kind] ?? null) === label).length,
        totalWatchTime:
          total(views.filter((one) => one[kind] === label).map(({ watchMs }) => watchMs)) / 1_000,
      }))
      .toSorted(by('plays', kind));
  }
}

/** Kinds with a count of their own. */
function isPlain(kind: string): boolean {
  return !['watchProgress', 'rebuffer', 'qualityChange', 'error'].includes(kind);
}

function startups(events: readonly LoggedEvent[]) {
  const times = events.map(({ data }) => data['startupTime'] as number);
  return { plays: times.length, averageStartupTime: rate(total(times), times.length) };
}
