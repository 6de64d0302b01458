/**
 * A report on events of one kind: their number, their viewers, and statistics of a value in `data`.
 */
import { bucketIndex, bucketsOf, type Period } from '../analytics/analytics.ts';
import type { ZoneClock } from '../../platform/values/zone-clock.ts';
import { matcherOf, propertiesNeeded, valuesOf, type Matcher } from './matcher.ts';
import { compareNames, Names, rateOf, tooMany } from './names.ts';
import { propertyName, type Scalar } from './properties.ts';
import type { Days } from './queries.ts';
import type { Question } from './scan.ts';
import type { ViewerEvents } from './viewer-rows.ts';

export type CustomQuestion = {
  readonly moments: Days;
  readonly period: Period;
  readonly clock: ZoneClock;
  readonly events: Matcher;
  /** A key of `data` whose numbers are added up. */
  readonly property: string | null;
  /** A key of `data` whose values split the events. */
  readonly breakdown: string | null;
  readonly limit: number;
};

const maxEvents = 5_000_000;
/** As in metrics, larger amounts are not treated as measurements. */
const maxAmount = 1e9;

class Tally {
  count = 0;
  viewers = 0;
  readonly values: number[] = [];

  add(value: number): void {
    this.count += 1;
    if (!Number.isNaN(value)) this.values.push(value);
  }

  /** Sums values in sorted order, so that the result does not depend on the order of events. */
  get sums() {
    const values = Float64Array.from(this.values).sort();
    const sum = values.reduce((total, value) => total + value, 0);
    return { values, sum: rounded(sum), average: mean(sum, values.length) };
  }
}

export class CustomReport {
  readonly #asked: CustomQuestion;
  readonly #names = new Names(100_000);
  readonly #total = new Tally();
  readonly #buckets: Tally[];
  readonly #groups = new Map<number, Tally>();
  readonly #bucketOf: number[] = [];
  readonly #groupOf: number[] = [];

  constructor(asked: CustomQuestion) {
    this.#asked = asked;
    this.#buckets = bucketsOf(asked.period).map(() => new Tally());
  }

  get question(): Question {
    const { moments, events, property, breakdown, period, clock } = this.#asked;
    const kind = events.event ?? '';
    const names = [property, breakdown].flatMap((key) =>
      key === null ? [] : [propertyName(kind, key)],
    );
    return {
      moments,
      properties: new Set([...propertiesNeeded([events]), ...names]),
      coder: (chunk, properties, dayStartMs) => {
        const isWanted = matcherOf(events, chunk, properties);
        const amounts = valuesOf(properties, propertyName(kind, property ?? ''));
        const groups = valuesOf(properties, propertyName(kind, breakdown ?? ''));
        const { offset } = chunk.columns;
        return (row) => {
          if (!isWanted(row)) return -1;
          const atMs = dayStartMs + (offset[row] ?? 0);
          return this.#add(
            bucketIndex(period, clock.localOf(atMs)),
            this.#names.numberOf(nameOf(groups.get(row))),
            property === null ? NaN : amountOf(amounts.get(row)),
          );
        };
      },
      // The order of simultaneous events does not matter here.
      compare: () => 0,
      visit: (found) => this.#visit(found),
    };
  }

  /** @returns the number of the event */
  #add(bucket: number, group: number, value: number): number {
    const number = this.#bucketOf.length;
    if (number >= maxEvents) throw tooMany(maxEvents);
    this.#bucketOf.push(bucket);
    this.#groupOf.push(group);
    this.#total.add(value);
    this.#buckets[bucket]?.add(value);
    if (this.#asked.breakdown !== null) this.#tallyOf(group).add(value);
    return number;
  }

  #visit({ codes, from, to }: ViewerEvents): void {
    this.#total.viewers += 1;
    const buckets = new Set<number>();
    const groups = new Set<number>();
    for (let row = from; row < to; row += 1) {
      buckets.add(this.#bucketOf[codes[row] ?? 0] ?? 0);
      groups.add(this.#groupOf[codes[row] ?? 0] ?? 0);
    }
    for (const bucket of buckets) {
      const tally = this.#buckets[bucket];
      if (tally !== undefined) tally.viewers += 1;
    }
    if (this.#asked.breakdown === null) return;
    for (const group of groups) this.#tallyOf(group).viewers += 1;
  }

  #tallyOf(group: number): Tally {
    let tally = this.#groups.get(group);
    if (tally === undefined) {
      tally = new Tally();
      this.#groups.set(group, tally);
    }
    return tally;
  }

  answer() {
    const { period, breakdown, limit } = this.#asked;
    const groups = [...this.#groups]
      .map(([group, tally]) => ({ name: this.#names.nameOf(group), tally }))
      .toSorted((a, b) => b.tally.count - a.tally.count || compareNames(a.name, b.name));
    const others = groups.slice(limit);
    return {
      summary: this.#present(this.#total),
      breakdown:
        breakdown === null
          ? null
          : groups
              .slice(0, limit)
              .map(({ name, tally }) => ({ value: valueOf(name), ...this.#present(tally) })),
      other: {
        values: others.length,
        count: others.reduce((sum, { tally }) => sum + tally.count, 0),
      },
      timeseries: bucketsOf(period).map(({ date }, index) => {
        const { count, viewers, sums } = this.#buckets[index] ?? new Tally();
        return { date, count, viewers, ...this.#totals(sums) };
      }),
    };
  }

  #totals({ sum, average }: Tally['sums']) {
    return this.#asked.property === null ? { sum: null, average: null } : { sum, average };
  }

  #present({ count, viewers, sums }: Tally) {
    const { values } = sums;
    const at = (share: number) => values[Math.ceil(share * values.length) - 1] ?? null;
    return {
      count,
      viewers,
      perViewer: rateOf(count, viewers),
      ...this.#totals(sums),
      values: values.length,
      minimum: values[0] ?? null,
      p50: at(0.5),
      p90: at(0.9),
      p95: at(0.95),
      p99: at(0.99),
      maximum: values.at(-1) ?? null,
    };
  }
}

function amountOf(value: Scalar | undefined): number {
  return typeof value === 'number' && Math.abs(value) <= maxAmount ? value : NaN;
}

/** Distinguishes strings from other values: "1" is not 1. */
function nameOf(value: Scalar | undefined): string {
  return value === undefined ? '' : JSON.stringify(value);
}

function valueOf(name: string): string | null {
  return name === '' ? null : String(JSON.parse(name) as Scalar);
}

function rounded(sum: number): number {
  return Math.round(sum * 1e6) / 1e6;
}

function mean(sum: number, count: number): number | null {
  return count === 0 ? null : rounded(sum / count);
}
