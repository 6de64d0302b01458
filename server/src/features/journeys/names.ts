/** Assigns numbers to the names in a question, so that rows contain small codes. */
import { ApiError } from '../../platform/http/errors.ts';

export class Names {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];
  readonly #max: number;

  /** @param max number of different names per question */
  constructor(max = 500_000) {
    this.#max = max;
  }

  numberOf(name: string): number {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      if (this.#names.length >= this.#max) throw tooMany(this.#max);
      number = this.#names.length;
      this.#names.push(name);
      this.#numbers.set(name, number);
    }
    return number;
  }

  nameOf(number: number): string {
    return this.#names[number] ?? '';
  }

  /** Compares numbers by their names, because the numbers depend on the order of reading. */
  compare(number: number, other: number): number {
    return number === other ? 0 : compareNames(this.nameOf(number), this.nameOf(other));
  }
}

export class NamesInGroups {
  readonly #numbers = new Map<number, number>();
  readonly #pairs: { readonly name: number; readonly group: number }[] = [];
  readonly #names: Names;
  readonly #groups: Names;

  constructor(names: Names, groups: Names) {
    this.#names = names;
    this.#groups = groups;
  }

  numberOf(name: number, group: number): number {
    const key = name * maxGroups + group;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      if (group >= maxGroups || this.#pairs.length >= maxPairs) throw tooMany(maxPairs);
      number = this.#pairs.length;
      this.#pairs.push({ name, group });
      this.#numbers.set(key, number);
    }
    return number;
  }

  nameOf(number: number): number {
    return this.#pairs[number]?.name ?? 0;
  }

  groupOf(number: number): number {
    return this.#pairs[number]?.group ?? 0;
  }

  /** Orders pairs by name, then by group. */
  compare(number: number, other: number): number {
    return (
      this.#names.compare(this.nameOf(number), this.nameOf(other)) ||
      this.#groups.compare(this.groupOf(number), this.groupOf(other))
    );
  }
}

const maxPairs = 500_000;
/** A pair is a single number in a `Map`, so both parts are bounded. */
const maxGroups = 2 ** 20;

export function compareNames(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The error for a response that would need too much memory. */
export function tooMany(max: number): ApiError {
  return new ApiError('LIMIT_EXCEEDED', {
    message: `The result would have more than ${max} distinct values. Request fewer days or less detail.`,
  });
}

export function rateOf(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}
