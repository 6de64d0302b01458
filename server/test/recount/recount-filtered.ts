/**
 * Recounts reports with filters from all matching views and sessions. Each counts in the period in
 * which it began, with all of its events.
 */
import type { LoggedEvent } from '../../src/features/events/events.ts';
import { recountBreakdown, type BreakdownAsked } from './recount-breakdown.ts';
import { percentWatched, type RecountedItem } from './recount-counts.ts';
import { hoursReport, momentsOf, viewersReport } from './recount-habits.ts';
import { by, movement, rate, total } from './recount-numbers.ts';
import { bucketsOf, comparedLength, day, dayOf, spanOf, type Range } from './recount-time.ts';
import {
  breakdown,
  byAudience,
  counted,
  hasCounts,
  isAboutItems,
  itemMetrics,
  noSessions,
  sessions,
  viewersOf,
  within,
  type Filter,
  type Part,
} from './recount-filtered-metrics.ts';
import { errorsReport, qualityReport } from './recount-filtered-quality.ts';
import {
  dropoff,
  toViews,
  toVisits,
  viewerOf,
  type Told,
  type View,
  type Visit,
} from './recount-views.ts';

export class FilteredRecount {
  readonly #views: View[];
  readonly #visits: Visit[];
  readonly #items: readonly RecountedItem[];
  readonly #daysOf: Map<string, Set<number>>;

  /** @param personOf resolves a viewer to a person: a device may belong to a user */
  constructor(
    events: readonly LoggedEvent[],
    items: readonly RecountedItem[],
    personOf: (viewer: string) => string = (viewer) => viewer,
  ) {
    const withPerson = <One extends { viewer: string | null }>(one: One): One => ({
      ...one,
      viewer: personOf(one.viewer ?? ''),
    });
    const once = [...new Map(events.map((event) => [event.eventId, event])).values()];
    const own = once.filter((event) => viewerOf(event) !== null);
    this.#views = toViews(own).map(withPerson);
    this.#visits = toVisits(own).map(withPerson);
    this.#items = items;
    this.#daysOf = new Map(
      [...Map.groupBy(own, (event) => personOf(viewerOf(event) ?? ''))].map(([viewer, all]) => [
        viewer,
        new Set(all.map(({ at }) => dayOf(at))),
      ]),
    );
  }

  overview(filter: Filter, range: Range) {
    const part = this.#partOf(filter);
    const count = (from: number, to: number) => {
      const { views, visits } = within(part, from, to);
      return {
        ...counted(views),
        sessions: isAboutItems(filter) ? null : visits.length,
      };
    };
    const { from, to } = spanOf(range);
    const length = comparedLength(range);
    const start = from - (to - from);
    const [now, before] = [count(from, from + length), count(start, start + length)];
    return {
      summary: count(from, to),
      timeseries: bucketsOf(range).map((one) => ({ date: one.date, ...count(one.from, one.to) })),
      comparison: Object.fromEntries(
        Object.entries(now).map(([name, value]) => [
          name,
          movement(value, before[name as keyof typeof before]),
        ]),
      ),
    };
  }

  /** Most played first. */
  content(filter: Filter, range: Range) {
    const { from, to } = spanOf(range);
    const part = this.#partOf(filter);
    const ofItems = ({ views }: Part) => Map.groupBy(views, ({ contentId }) => contentId);
    const byItem = ofItems(within(part, from, to));
    const before = ofItems(within(part, from - (to - from), from));
    return this.#items
      .flatMap(({ id, title }) => {
        const own = byItem.get(id) ?? [];
        const previous = itemMetrics(before.get(id) ?? []);
        return hasCounts(own)
          ? [{ contentId: id, title, metrics: itemMetrics(own), previous }]
          : [];
      })
      .toSorted(
        (a, b) => b.metrics.plays - a.metrics.plays || (a.contentId < b.contentId ? 1 : -1),
      );
  }

  item(contentId: string, filter: Filter, range: Range) {
    const part = this.#partOf({ ...filter, contentId });
    const { from, to } = spanOf(range);
    const { views } = within(part, from, to);
    return {
      contentId,
      title: this.#items.find(({ id }) => id === contentId)?.title,
      summary: itemMetrics(views),
      timeseries: bucketsOf(range).map((one) => ({
        date: one.date,
        ...itemMetrics(within(part, one.from, one.to).views),
      })),
      devices: breakdown(views, 'device'),
      countries: breakdown(views, 'country'),
      engagement: {
        averagePercentWatched: percentWatched(views),
        dropoffPoints: dropoff(views.filter(({ isWatched }) => isWatched)),
        watchedPoints: null,
      },
    };
  }

  viewers(filter: Filter, range: Range) {
    const { from, to } = spanOf(range);
    const { views } = within(this.#partOf(filter), from, to);
    return viewersReport(
      views,
      total(views.map(({ likes }) => likes)),
      total(views.map(({ unlikes }) => unlikes)),
    );
  }

  hours(filter: Filter, range: Range) {
    const { from, to } = spanOf(range);
    const { views, visits } = within(this.#partOf(filter), from, to);
    const happened = {
      impressions: momentsOf(views, ({ impressions }) => impressions),
      plays: momentsOf(views, ({ plays }) => plays),
      likes: momentsOf(views, ({ likes }) => likes),
      views: [...views],
      sessions: isAboutItems(filter) ? null : visits.map(({ firstAt }) => firstAt),
    };
    return hoursReport(happened, from, to);
  }

  engagement(filter: Filter, range: Range, kind: 'device' | 'country' | 'tag') {
    const part = this.#partOf(filter);
    const { from, to } = spanOf(range);
    const present = isAboutItems(filter) ? () => noSessions : sessions;
    return {
      summary: present(within(part, from, to)),
      segments:
        kind === 'tag'
          ? this.#byTag(within(part, from, to))
          : byAudience(within(part, from, to), kind, present),
      timeseries: bucketsOf(range).map((one) => ({
        date: one.date,
        ...present(within(part, one.from, one.to)),
      })),
    };
  }

  quality(filter: Filter, range: Range) {
    return qualityReport(this.#partOf(filter), range);
  }

  errors(filter: Filter, range: Range) {
    return errorsReport(this.#partOf(filter), range);
  }

  sources(filter: Filter, range: Range) {
    const part = this.#partOf(filter);
    const { from, to } = spanOf(range);
    const count = ({ views }: Part) =>
      [...Map.groupBy(views, ({ entryPoint }) => entryPoint)]
        .map(([entryPoint, own]) => ({
          entryPoint,
          impressions: total(own.map(({ impressions }) => impressions)),
        }))
        .filter(({ impressions }) => impressions > 0)
        .toSorted(by('impressions', 'entryPoint'));
    const all = count(within(part, from, to));
    const sum = total(all.map(({ impressions }) => impressions));
    return {
      sources: all.map((one) => ({
        ...one,
        share: rate(one.impressions, sum),
        ...this.#cameBy(one.entryPoint, filter, within(part, from, to)),
      })),
      timeseries: bucketsOf(range).map((one) => ({
        date: one.date,
        impressions: Object.fromEntries(
          count(within(part, one.from, one.to)).map(({ entryPoint, impressions }) => [
            entryPoint ?? '',
            impressions,
          ]),
        ),
      })),
    };
  }

  audience(filter: Filter, range: Range) {
    const part = this.#partOf(filter);
    const { to } = spanOf(range);
    const end = Math.min(to, dayOf(Date.now()) + day);
    const watching = (days: number) => viewersOf(within(part, end - days * day, end).views);
    const timeseries = bucketsOf({ ...range, granularity: 'day' }).map((one) => {
      const firsts = this.#activeIn(part, one.from, one.to).map((viewer) => this.#firstDay(viewer));
      return {
        date: one.date,
        newViewers: firsts.filter((first) => first === one.from).length,
        returningViewers: firsts.filter((first) => first < one.from).length,
      };
    });
    return {
      date: new Date(end - 1).toISOString().slice(0, 10),
      dailyActiveViewers: watching(1),
      weeklyActiveViewers: watching(7),
      monthlyActiveViewers: watching(30),
      stickiness: rate(watching(1), watching(30)),
      newViewers: total(timeseries.map(({ newViewers }) => newViewers)),
      timeseries,
    };
  }

  /** By day. */
  retention(filter: Filter, range: Range) {
    const part = this.#partOf(filter);
    const { to } = spanOf(range);
    const lastDay = dayOf(Math.min(to - 1, Date.now()));
    return {
      cohorts: bucketsOf({ ...range, granularity: 'day' }).map((one) => {
        const cohort = this.#activeIn(part, one.from, one.to).filter(
          (viewer) => this.#firstDay(viewer) === one.from,
        );
        const retention: number[] = [];
        for (let n = 0; cohort.length > 0 && one.from + n * day <= lastDay; n += 1) {
          const back = cohort.filter((viewer) => this.#daysOf.get(viewer)?.has(one.from + n * day));
          retention.push(back.length / cohort.length);
        }
        return { date: one.date, size: cohort.length, retention };
      }),
    };
  }

  breakdown(asked: BreakdownAsked, filter: Filter, range: Range) {
    const { from, to } = spanOf(range);
    const part = within(this.#partOf(filter), from, to);
    return recountBreakdown(asked, part, { items: this.#items, isOfItems: isAboutItems(filter) });
  }

  #cameBy(entryPoint: string | null, filter: Filter, part: Part) {
    const views = part.views.filter((view) => view.entryPoint === entryPoint);
    const visits = part.visits.filter((visit) => visit.entryPoint === entryPoint);
    const { plays, totalWatchTime, averageWatchTime, hookRate, views: played } = counted(views);
    return {
      ...{ views: played, plays, totalWatchTime, averageWatchTime, hookRate },
      uniqueViewers: viewersOf(views),
      followOnPlays: isAboutItems(filter)
        ? null
        : total(visits.map((visit) => Math.max(0, visit.plays - 1))),
    };
  }

  #activeIn(part: Part, from: number, to: number): string[] {
    const { views, visits } = within(part, from, to);
    return [...new Set([...views, ...visits].map(({ viewer }) => viewer ?? ''))];
  }

  #firstDay(viewer: string): number {
    return Math.min(...(this.#daysOf.get(viewer) ?? []));
  }

  #byTag({ views }: Part) {
    const byItem = Map.groupBy(views, ({ contentId }) => contentId);
    const active = this.#items.filter(({ id }) => hasCounts(byItem.get(id) ?? []));
    return [...new Set(active.flatMap(({ tags }) => tags))]
      .map((tag) => {
        const own = active.filter(({ tags }) => tags.includes(tag));
        return {
          segment: tag,
          ...noSessions,
          ...counted(own.flatMap(({ id }) => byItem.get(id) ?? [])),
        };
      })
      .toSorted(by('plays', 'segment'));
  }

  #partOf(filter: Filter): Part {
    const { tag, contentId, ...told } = filter;
    const items = this.#items.filter(
      ({ id, tags }) =>
        (tag === undefined || tags.includes(tag)) && (contentId === undefined || id === contentId),
    );
    const ids = new Set(items.map(({ id }) => id));
    const matches = (one: Told) =>
      Object.entries(told).every(([name, value]) => one[name as keyof Told] === value);
    return {
      views: this.#views.filter(
        (view) => matches(view) && (!isAboutItems(filter) || ids.has(view.contentId)),
      ),
      visits: isAboutItems(filter) ? [] : this.#visits.filter(matches),
    };
  }
}
