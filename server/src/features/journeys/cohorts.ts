/**
 * Cohorts: groups viewers by their first day, first action or first content in the period, and
 * counts how many of them do something on each following day or week.
 *
 * A viewer belongs to the first event that begins a cohort. Day n is the n-th day after that day by
 * the organization's clock, and counts only viewers whose day n has begun.
 */
import { dayMs } from '../../platform/values/time.ts';
import type { ZoneClock } from '../../platform/values/zone-clock.ts';
import { noItem } from '../events/events.ts';
import { itemIdOf, itemKey, type Chunk } from './chunk.ts';
import { groupReader, type JourneyDimension } from './dimensions.ts';
import { matcherOf, propertiesNeeded, type Matcher } from './matcher.ts';
import { compareNames, Names, NamesInGroups, rateOf } from './names.ts';
import type { Days } from './queries.ts';
import type { Question } from './scan.ts';
import type { ViewerEvents } from './viewer-rows.ts';

export const cohortKinds = ['day', 'event', 'item', 'tag', 'author'] as const;
export type CohortKind = (typeof cohortKinds)[number];

export type CohortQuestion = {
  readonly moments: Days;
  readonly clock: ZoneClock;
  readonly by: CohortKind;
  readonly first: Matcher;
  readonly returning: Matcher;
  readonly daysOfPeriod: 1 | 7;
  readonly periods: number;
  /** The last day that has begun, counted from 1 January 1970. */
  readonly lastDay: number;
  /** Whether a viewer may be in a cohort. */
  readonly takes: (member: number) => boolean;
  /** Dimension of the event that begins the cohort. */
  readonly breakdown: JourneyDimension | null;
  readonly limit: number;
};

type Cohort = { readonly viewers: Int32Array; readonly matured: Int32Array };

export class Cohorts {
  readonly #asked: CohortQuestion;
  readonly #names = new Names(200_000);
  /** Keyed by event name, item id or day number. */
  #cohorts = new Map<string, Cohort>();
  readonly #groups = new Names(100_000);
  readonly #beginnings = new NamesInGroups(this.#names, this.#groups);
  readonly #cohortsOfGroups = new Map<string, Cohort>();

  constructor(asked: CohortQuestion) {
    this.#asked = asked;
    // An event that begins no cohort.
    this.#beginnings.numberOf(this.#names.numberOf(''), 0);
  }

  get question(): Question {
    const { moments, first, returning, breakdown } = this.#asked;
    return {
      moments,
      properties: propertiesNeeded([first, returning]),
      coder: (chunk, properties) => {
        const begins = matcherOf(first, chunk, properties);
        const isReturn = matcherOf(returning, chunk, properties);
        const nameOf = this.#nameOf(chunk);
        const groupOf = groupReader(chunk, breakdown, this.#groups);
        return (row) => {
          const name = begins(row) ? nameOf(row) : 0;
          const beginning = name === 0 ? 0 : this.#beginnings.numberOf(name, groupOf(row));
          const returned = isReturn(row) ? 1 : 0;
          return beginning === 0 && returned === 0 ? -1 : beginning * 2 + returned;
        };
      },
      compare: (a, b) => this.#beginnings.compare(a >> 1, b >> 1) || (a & 1) - (b & 1),
      visit: (events) => this.#visit(events),
    };
  }

  /** Returns 0 for an event that begins no cohort. */
  #nameOf({ kinds, items, columns }: Chunk): (row: number) => number {
    const { by } = this.#asked;
    if (by === 'day') {
      const day = this.#names.numberOf('day');
      return () => day;
    }
    if (by === 'event') {
      const numbers = kinds.map((kind) => this.#names.numberOf(kind));
      return (row) => numbers[columns.kind[row] ?? 0] ?? 0;
    }
    const none = itemKey(noItem);
    const numbers: (number | undefined)[] = [];
    return (row) => {
      const item = columns.item[row] ?? 0;
      const key = items[item] ?? none;
      return key === none ? 0 : (numbers[item] ??= this.#names.numberOf(itemIdOf(key)));
    };
  }

  #visit({ member, at, codes, from, to }: ViewerEvents): void {
    const { by, clock, daysOfPeriod, periods, lastDay, takes, breakdown } = this.#asked;
    let start = from;
    while (start < to && (codes[start] ?? 0) < 2) start += 1;
    if (start === to || !takes(member)) return;
    const dayAt = (row: number) => Math.floor(clock.localOf(at[row] ?? 0) / dayMs);
    const firstDay = dayAt(start);
    const beginning = (codes[start] ?? 0) >> 1;
    const found = this.#newCohort();
    for (let period = 0; period <= periods; period += 1) {
      if (firstDay + period * daysOfPeriod > lastDay) break;
      found.matured[period] = 1;
    }
    for (let row = start; row < to; row += 1) {
      if (((codes[row] ?? 0) & 1) === 0) continue;
      const period = Math.floor((dayAt(row) - firstDay) / daysOfPeriod);
      if (period > periods) break;
      found.viewers[period] = 1;
    }
    const name =
      by === 'day' ? String(firstDay) : this.#names.nameOf(this.#beginnings.nameOf(beginning));
    this.#add(this.#cohorts, name, found);
    if (breakdown === null) return;
    const group = this.#groups.nameOf(this.#beginnings.groupOf(beginning));
    this.#add(this.#cohortsOfGroups, group, found);
  }

  #newCohort(): Cohort {
    const length = this.#asked.periods + 1;
    return { viewers: new Int32Array(length), matured: new Int32Array(length) };
  }

  #add(cohorts: Map<string, Cohort>, name: string, { viewers, matured }: Cohort): void {
    let cohort = cohorts.get(name);
    if (cohort === undefined) {
      cohort = this.#newCohort();
      cohorts.set(name, cohort);
    }
    for (let period = 0; period < viewers.length; period += 1) {
      cohort.viewers[period] = (cohort.viewers[period] ?? 0) + (viewers[period] ?? 0);
      cohort.matured[period] = (cohort.matured[period] ?? 0) + (matured[period] ?? 0);
    }
  }

  get names(): string[] {
    return [...this.#cohorts.keys()];
  }

  /** Merges cohorts of items by their tags or authors. Items without any are dropped. */
  relabel(labels: ReadonlyMap<string, readonly string[]>): void {
    const before = this.#cohorts;
    this.#cohorts = new Map();
    for (const [name, cohort] of before) {
      for (const label of new Set(labels.get(name))) this.#add(this.#cohorts, label, cohort);
    }
  }

  answer() {
    const { by, breakdown, limit } = this.#asked;
    const all = [...this.#cohorts]
      .map(([name, cohort]) => ({
        cohort: by === 'day' ? new Date(Number(name) * dayMs).toISOString().slice(0, 10) : name,
        ...present(cohort),
      }))
      .toSorted((a, b) => (by === 'day' ? 0 : b.size - a.size) || compareNames(a.cohort, b.cohort));
    const most = by === 'day' ? all.length : limit;
    const groups = [...this.#cohortsOfGroups]
      .map(([value, cohort]) => ({ value, ...present(cohort) }))
      .toSorted((a, b) => b.size - a.size || compareNames(a.value, b.value))
      .map(({ value, ...cohort }) => ({ value: value || null, ...cohort }));
    return {
      cohorts: all.slice(0, most),
      otherCohorts: Math.max(0, all.length - most),
      breakdown: breakdown === null ? null : groups.slice(0, limit),
      otherValues: Math.max(0, groups.length - limit),
    };
  }
}

function present({ viewers, matured }: Cohort) {
  const periods = [...matured].map((of, period) => ({
    period,
    viewers: viewers[period] ?? 0,
    of,
    share: rateOf(viewers[period] ?? 0, of),
  }));
  return { size: matured[0] ?? 0, periods: periods.filter(({ of }) => of > 0) };
}
