import { byFreshness, type FeedEntry } from './feed-entry.ts';
import type { IndexedItem } from './queries.ts';

/** Up to this many changes are spliced in one by one; more are merged by one sort. */
const mostSplices = 64;

/** The entries of one organization: by number, and newest first. */
export class OrganizationIndex {
  readonly #byNumber = new Map<number, FeedEntry>();
  #newestFirst: FeedEntry[] = [];

  constructor(items: readonly IndexedItem[]) {
    this.apply(items);
  }

  get newestFirst(): readonly FeedEntry[] {
    return this.#newestFirst;
  }

  find(serialNumber: number): FeedEntry | undefined {
    return this.#byNumber.get(serialNumber);
  }

  /** Takes changed items over. An older version than the one that is known changes nothing. */
  apply(items: readonly IndexedItem[]): void {
    const news = items.filter((item) => {
      const known = this.#byNumber.get(item.serialNumber);
      return known === undefined ? item.isMember : item.revision >= known.revision;
    });
    if (news.length <= mostSplices) for (const item of news) this.#splice(item);
    else this.#merge(news);
  }

  #splice(item: IndexedItem): void {
    const known = this.#byNumber.get(item.serialNumber);
    if (known !== undefined) this.#newestFirst.splice(this.#position(known), 1);
    if (item.isMember) {
      this.#newestFirst.splice(this.#position(item), 0, item);
      this.#byNumber.set(item.serialNumber, item);
    } else {
      this.#byNumber.delete(item.serialNumber);
    }
  }

  #merge(items: readonly IndexedItem[]): void {
    for (const item of items) {
      if (item.isMember) this.#byNumber.set(item.serialNumber, item);
      else this.#byNumber.delete(item.serialNumber);
    }
    this.#newestFirst = [...this.#byNumber.values()].toSorted(byFreshness);
  }

  /** Where an entry stands, or would stand: the order has no two equal entries. */
  #position(entry: FeedEntry): number {
    let low = 0;
    let high = this.#newestFirst.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#newestFirst[middle];
      if (other !== undefined && byFreshness(other, entry) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
