/**
 * Recounts funnels, paths, cohorts and custom reports from plain arrays of events, following
 * docs/journeys.md. It shares no code with what it checks; everything is slow and simple.
 */
import type { LoggedEvent } from '../../src/features/events/events.ts';
import { recountFunnel } from './recount-funnel.ts';
import { compare, groupsOf, sessionsOf, type Is, type SplitBy } from './recount-groups.ts';
import { by, rate } from './recount-numbers.ts';
import type { RecountedItem } from './recount.ts';

const day = 24 * 3_600_000;
const noItem = '00000000-0000-0000-0000-000000000000';
const unsplit: SplitBy = () => '';
type Dated = { from: number; to: number };

export class JourneyRecount {
  readonly #people: Map<string, LoggedEvent[]>;
  readonly #items: readonly RecountedItem[];
  readonly #only: Is;

  /** @param only predicate of a filter */
  constructor(
    events: readonly LoggedEvent[],
    items: readonly RecountedItem[],
    only: Is = () => true,
  ) {
    const userOf = links(events);
    const named = events.filter((event) => personOf(event, userOf) !== null);
    this.#people = Map.groupBy(named, (event) => String(personOf(event, userOf)));
    this.#items = items;
    this.#only = only;
  }

  #within({ from, to }: Dated): LoggedEvent[][] {
    return [...this.#people.values()]
      .map((events) =>
        events.filter((event) => event.at >= from && event.at < to && this.#only(event)),
      )
      .filter((events) => events.length > 0);
  }

  funnel(
    range: Dated,
    kinds: readonly string[],
    steps: readonly Is[],
    asked: { windowHours?: number; split: SplitBy },
    limit = Infinity,
  ) {
    return recountFunnel(this.#within(range), kinds, steps, asked, limit);
  }

  paths(
    range: Dated,
    isAnchor: Is,
    asked: {
      before: boolean;
      steps: number;
      byItem: boolean;
      exclude: string[];
      collapse: boolean;
      split?: SplitBy;
    },
    limit: number,
  ) {
    const { split = unsplit } = asked;
    const nameOf = ({ event, contentId }: LoggedEvent) =>
      asked.byItem && contentId !== noItem ? `${event} ${contentId}` : event;
    const sortName = (event: LoggedEvent) =>
      !isAnchor(event) && asked.exclude.includes(event.event)
        ? ''
        : nameOf(event).replaceAll('-', '');
    const found = this.#within(range).flatMap((events, person) =>
      sessionsOf(
        events.toSorted(
          (a, b) =>
            a.at - b.at ||
            compare(sortName(a), sortName(b)) ||
            Number(isAnchor(a)) - Number(isAnchor(b)) ||
            (isAnchor(a) ? compare(split(a), split(b)) : 0),
        ),
      ).flatMap((session) => {
        const ordered = asked.before ? session.toReversed() : session;
        const start = ordered.findIndex(isAnchor);
        const anchor = ordered[start];
        if (anchor === undefined) return [];
        const names = ordered
          .slice(start)
          .filter((event) => isAnchor(event) || !asked.exclude.includes(event.event))
          .map(nameOf)
          .filter((name, index, all) => !asked.collapse || index === 0 || name !== all[index - 1]);
        return [{ person, names: names.slice(0, asked.steps + 1), group: split(anchor) }];
      }),
    );
    const node = (name: string) => ({
      event: name.split(' ')[0],
      contentId: name.split(' ')[1] ?? null,
    });
    const listed = (lists: readonly string[][]) => {
      const all = [...Map.groupBy(lists, (names) => names.join('\n'))]
        .map(([key, of]) => ({ key, names: key.split('\n'), sessions: of.length }))
        .toSorted(
          (a, b) =>
            b.sessions - a.sessions ||
            compare(a.key.replaceAll('-', ''), b.key.replaceAll('-', '')),
        );
      const rest = all.slice(limit).reduce((sum, { sessions }) => sum + sessions, 0);
      return { listed: all.slice(0, limit), rest };
    };
    const present = (of: typeof found) => ({
      sessions: of.length,
      viewers: new Set(of.map(({ person }) => person)).size,
      steps: Array.from({ length: asked.steps }, (_, index) => {
        const here = of.filter(({ names }) => names.length > index);
        const going = here.filter(({ names }) => names.length > index + 1);
        const pairs = listed(going.map(({ names }) => names.slice(index, index + 2)));
        return {
          step: index + 1,
          transitions: pairs.listed.map(({ names: [from = '', to = ''], sessions }) => ({
            from: node(from),
            to: node(to),
            sessions,
          })),
          other: pairs.rest,
          ended: here.length - going.length,
        };
      }),
      paths: listed(of.map(({ names }) => names)).listed.map(({ names, sessions }) => ({
        events: names.map(node),
        sessions,
      })),
      otherPaths: listed(of.map(({ names }) => names)).rest,
    });
    const values = groupsOf(found, ({ group }) => group);
    return {
      ...present(found),
      breakdown:
        asked.split === undefined
          ? null
          : values.slice(0, limit).map(({ value, of }) => ({ value, ...present(of) })),
      otherValues: asked.split === undefined ? 0 : Math.max(0, values.length - limit),
    };
  }

  cohorts(
    range: Dated,
    asked: {
      by: 'day' | 'event' | 'item' | 'tag';
      begins: Is;
      returns: Is;
      isNew: boolean;
      days: number;
      periods: number;
      split?: SplitBy;
    },
    limit: number,
    nowMs: number,
  ) {
    const { split = unsplit } = asked;
    const lastDay = Math.floor(Math.min(range.to - 1, nowMs) / day);
    const isKnown = (events: readonly LoggedEvent[]) =>
      events.some(({ at, event }) => at < range.from && !event.startsWith('custom.'));
    const people = [...this.#people.values()].filter((all) => !asked.isNew || !isKnown(all));
    const started = people.flatMap((all) => {
      const name = (event: LoggedEvent) => (asked.by === 'event' ? event.event : event.contentId);
      const begins = (event: LoggedEvent) =>
        asked.begins(event) && (['day', 'event'].includes(asked.by) || event.contentId !== noItem);
      const events = all.filter(
        (event) => event.at >= range.from && event.at < range.to && this.#only(event),
      );
      const candidates = events
        .filter(begins)
        .toSorted(
          (a, b) =>
            a.at - b.at ||
            (asked.by === 'day' ? 0 : compare(name(a), name(b))) ||
            compare(split(a), split(b)),
        );
      const [first] = candidates;
      if (first === undefined) return [];
      const firstDay = Math.floor(first.at / day);
      const periods = new Set(
        events
          // Among simultaneous events, those that begin no cohort come first.
          .filter((event) => asked.returns(event) && (event.at > first.at || begins(event)))
          .filter(({ at }) => at >= first.at)
          .map(({ at }) => Math.floor((Math.floor(at / day) - firstDay) / asked.days)),
      );
      return [{ firstDay, periods, first, name: name(first) }];
    });
    const found = started.flatMap((one) => {
      if (asked.by === 'day') {
        return [{ ...one, cohort: new Date(one.firstDay * day).toISOString().slice(0, 10) }];
      }
      if (asked.by !== 'tag') return [{ ...one, cohort: one.name }];
      const tags = this.#items.find(({ id }) => id === one.first.contentId)?.tags ?? [];
      return tags.map((tag) => ({ ...one, cohort: tag }));
    });
    const present = (viewers: typeof started) => ({
      size: viewers.length,
      periods: Array.from({ length: asked.periods + 1 }, (_, period) => {
        const ripe = viewers.filter(({ firstDay }) => firstDay + period * asked.days <= lastDay);
        const back = ripe.filter(({ periods }) => periods.has(period));
        return {
          period,
          viewers: back.length,
          of: ripe.length,
          share: rate(back.length, ripe.length),
        };
      }).filter(({ of }) => of > 0),
    });
    const all = [...Map.groupBy(found, ({ cohort }) => cohort)]
      .map(([cohort, viewers]) => ({ cohort, ...present(viewers) }))
      .toSorted(
        (a, b) => (asked.by === 'day' ? 0 : b.size - a.size) || compare(a.cohort, b.cohort),
      );
    const most = asked.by === 'day' ? all.length : limit;
    const values = groupsOf(started, ({ first }) => split(first));
    return {
      cohorts: all.slice(0, most),
      otherCohorts: Math.max(0, all.length - most),
      breakdown:
        asked.split === undefined
          ? null
          : values.slice(0, limit).map(({ value, of }) => ({ value, ...present(of) })),
      otherValues: asked.split === undefined ? 0 : Math.max(0, values.length - limit),
    };
  }

  custom(range: Dated, is: Is, fields: { property: string; breakdown: string }) {
    const found = [...this.#people].flatMap(([person, events]) =>
      events
        .filter(
          (event) =>
            event.at >= range.from && event.at < range.to && is(event) && this.#only(event),
        )
        .map((event) => ({
          person,
          at: event.at,
          value: event.data[fields.property],
          group: event.data[fields.breakdown],
        })),
    );
    const totals = (of: typeof found) => {
      const numbers = of
        .flatMap(({ value }) => (typeof value === 'number' ? [value] : []))
        .toSorted((a, b) => a - b);
      const sum = numbers.reduce((total, one) => total + one, 0);
      const viewers = new Set(of.map(({ person }) => person)).size;
      const at = (part: number) => numbers[Math.ceil(part * numbers.length) - 1] ?? null;
      const sums = {
        sum: millionths(sum),
        average: numbers.length === 0 ? null : millionths(millionths(sum) / numbers.length),
      };
      return {
        brief: { count: of.length, viewers, ...sums },
        full: {
          count: of.length,
          viewers,
          perViewer: rate(of.length, viewers),
          ...sums,
          values: numbers.length,
          minimum: numbers[0] ?? null,
          p50: at(0.5),
          p90: at(0.9),
          p95: at(0.95),
          p99: at(0.99),
          maximum: numbers.at(-1) ?? null,
        },
      };
    };
    const days = Array.from(
      { length: (range.to - range.from) / day },
      (_, n) => range.from + n * day,
    );
    return {
      summary: totals(found).full,
      breakdown: [...Map.groupBy(found, ({ group }) => group)]
        .map(([group, of]) => ({
          value: group === undefined ? null : `${group as string | number}`,
          ...totals(of).full,
        }))
        .toSorted(by('count', 'value')),
      other: { values: 0, count: 0 },
      timeseries: days.map((start) => ({
        date: new Date(start).toISOString().slice(0, 10),
        ...totals(found.filter(({ at }) => at >= start && at < start + day)).brief,
      })),
    };
  }
}

/** The user of each device, from the first event that names both. */
function links(events: readonly LoggedEvent[]): Map<string, string> {
  const userOf = new Map<string, string>();
  for (const { userId, deviceId, event } of events.toSorted((a, b) => a.at - b.at)) {
    if (userId === undefined || deviceId === undefined || event.startsWith('custom.')) continue;
    if (!userOf.has(deviceId)) userOf.set(deviceId, userId);
  }
  return userOf;
}

function personOf(event: LoggedEvent, userOf: ReadonlyMap<string, string>): string | null {
  const { userId, deviceId, sessionId } = event;
  if (userId !== undefined) return `user ${userId}`;
  if (deviceId !== undefined) {
    const user = userOf.get(deviceId);
    return user === undefined ? `device ${deviceId}` : `user ${user}`;
  }
  return sessionId === undefined ? null : `session ${sessionId}`;
}

function millionths(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
