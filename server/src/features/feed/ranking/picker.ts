/** Picks the best of a pool for one place after another. Nothing here changes a score. */
import type { FeedEntry } from '../items/feed-entry.ts';
import type { Choice } from './choice.ts';
import { visitNewest } from './filter.ts';
import { rank, type Candidate } from './rank.ts';

/**
 * At diversity 1, an author's item after n others counts (1 − 0.25)·0.5^n + 0.25: the discount of
 * X's home timeline. In a library with few authors it would otherwise outweigh everything else.
 */
const authorFloor = 0.25;
/**
 * The maximum loss, at diversity 1, of an item that resembles its neighbours. A strong preference
 * moves a score by an eighth, so a larger discount would cancel it.
 */
const maxLikenessDiscount = 0.3;
/** Number of entries of other authors fetched at once when the pool has none left. */
const othersAtOnce = 20;

const taken = -1;

/** The author number of entries without an author, which may be neighbours. */
export const noAuthor = 0;

export class Picker {
  readonly #choice: Choice;
  /** By descending key. */
  readonly #pool: Candidate[];
  /** Keys with author discounts; −1 for taken candidates. */
  #discounted: Float64Array;
  /** Everything before this index was taken. */
  #first = 0;
  readonly #diversity: number;
  readonly #timesOf = new Map<number, number>();
  /** Authors for whom no entry of another author is left outside the pool. */
  readonly #areAllInPool = new Set<number>();
  #previous: readonly number[] = [];
  #beforePrevious: readonly number[] = [];
  #previousAuthor: number;

  /** @param pool sorted by descending key; the picker takes ownership */
  constructor(choice: Choice, pool: Candidate[], previousAuthor: number) {
    this.#choice = choice;
    this.#pool = pool;
    this.#discounted = Float64Array.from(pool, ({ key }) => key);
    this.#diversity = choice.parts.config.diversity;
    this.#previousAuthor = previousAuthor;
  }

  /**
   * Removes and returns the best candidate for the next place, or null if none is left. Its author
   * differs from that of the previous item, and if possible from that of the following one, as long
   * as such an entry is left.
   *
   * @param nextAuthor of the item at the following place
   */
  pick(nextAuthor = noAuthor): FeedEntry | null {
    const best = this.pickOther(nextAuthor) ?? this.pickOther(noAuthor);
    return best ?? this.#takeOut(this.#best(noAuthor, noAuthor));
  }

  /** Like `pick`, but null if only the neighbours' authors are left. */
  pickOther(nextAuthor: number): FeedEntry | null {
    let best = this.#best(this.#previousAuthor, nextAuthor);
    if (best === -1 && this.#fetchOthers(nextAuthor)) {
      best = this.#best(this.#previousAuthor, nextAuthor);
    }
    return this.#takeOut(best);
  }

  /** Removes and returns the first of `entries` that is allowed at the next place. */
  takeFitting(entries: FeedEntry[], nextAuthor = noAuthor): FeedEntry | null {
    const fits = ({ authorNumber }: FeedEntry) =>
      authorNumber === noAuthor ||
      (authorNumber !== this.#previousAuthor && authorNumber !== nextAuthor);
    const index = entries.findIndex(fits);
    return index === -1 ? null : (entries.splice(index, 1)[0] ?? null);
  }

  place(entry: FeedEntry): void {
    const { authorNumber } = entry;
    if (authorNumber !== noAuthor && this.#diversity > 0) this.#discount(authorNumber);
    this.#beforePrevious = this.#previous;
    this.#previous = entry.tagNumbers;
    this.#previousAuthor = authorNumber;
  }

  #takeOut(index: number): FeedEntry | null {
    const candidate = this.#pool[index];
    if (candidate === undefined) return null;
    this.#discounted[index] = taken;
    while (this.#discounted[this.#first] === taken) this.#first += 1;
    return candidate.entry;
  }

  #best(avoided: number, alsoAvoided: number): number {
    const pool = this.#pool;
    const likenessDiscount = maxLikenessDiscount * this.#diversity;
    let best = -1;
    let bestKey = -1;
    for (let index = this.#first; index < pool.length; index += 1) {
      const candidate = pool[index];
      // Keys descend from here on, and discounts only lower them.
      if (candidate === undefined || candidate.key <= bestKey) break;
      let key = this.#discounted[index] ?? taken;
      if (key <= bestKey || key === taken) continue;
      const { authorNumber: author, tagNumbers } = candidate.entry;
      if (author !== noAuthor && (author === avoided || author === alsoAvoided)) continue;
      if (likenessDiscount > 0) key *= 1 - likenessDiscount * this.#likeness(tagNumbers);
      if (key > bestKey) {
        best = index;
        bestKey = key;
      }
    }
    return best;
  }

  /** Lowers the keys of an author's remaining items after one was placed. */
  #discount(author: number): void {
    const times = (this.#timesOf.get(author) ?? 0) + 1;
    this.#timesOf.set(author, times);
    const factor = this.#discountAfter(times);
    for (let index = this.#first; index < this.#pool.length; index += 1) {
      const candidate = this.#pool[index];
      if (candidate?.entry.authorNumber !== author || this.#discounted[index] === taken) continue;
      this.#discounted[index] = candidate.key * factor;
    }
  }

  #discountAfter(times: number): number {
    return 1 - this.#diversity * (1 - authorFloor) * (1 - 0.5 ** times);
  }

  /** Similarity of tags with the two previous items: the larger Jaccard index. */
  #likeness(tags: readonly number[]): number {
    return Math.max(jaccard(tags, this.#previous), jaccard(tags, this.#beforePrevious));
  }

  #addToPool(found: readonly Candidate[]): void {
    const left = this.#pool.filter((_, index) => this.#discounted[index] !== taken);
    const all = [...left, ...found].sort((a, b) => b.key - a.key);
    this.#pool.splice(0, Infinity, ...all);
    this.#first = 0;
    this.#discounted = Float64Array.from(all, ({ key, entry }) => {
      const times = this.#timesOf.get(entry.authorNumber);
      return times === undefined ? key : key * this.#discountAfter(times);
    });
  }

  /**
   * Called when the pool has only these authors left: fetches entries of others from outside.
   *
   * @returns whether there are any
   */
  #fetchOthers(nextAuthor: number): boolean {
    const { index, filter } = this.#choice.parts;
    const previous = this.#previousAuthor;
    if (this.#areAllInPool.has(previous) || filter.author !== null) return false;
    const found: FeedEntry[] = [];
    visitNewest(index, filter, (entry) => {
      const { authorNumber: author } = entry;
      const isOther = author === noAuthor || (author !== previous && author !== nextAuthor);
      if (isOther && this.#choice.take(entry)) found.push(entry);
      return found.length < othersAtOnce;
    });
    if (found.length === 0) {
      if (nextAuthor === noAuthor) this.#areAllInPool.add(previous);
      return false;
    }
    this.#addToPool(rank(this.#choice, found));
    return true;
  }
}

function jaccard(a: readonly number[], b: readonly number[]): number {
  if (a.length === 0 || b.length === 0) return 0;
  let both = 0;
  for (let at = 0; at < a.length; at += 1) {
    const tag = a[at];
    for (let other = 0; other < b.length; other += 1) {
      if (b[other] === tag) {
        both += 1;
        break;
      }
    }
  }
  return both / (a.length + b.length - both);
}
