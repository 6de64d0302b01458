import { type FeedItem } from '@reelfeed/client';
import { type Store } from './storage.ts';

const keptItems = 1000;

/** Which items this browser has liked, or saved. Only the latest thousand are remembered. */
export class Marks {
  readonly #store: Store;
  readonly #kind: 'likes' | 'saves';
  readonly #ids: Set<string>;
  /** What the count of an item lacks, because it was read before the viewer changed their mind. */
  readonly #changes = new WeakMap<FeedItem, number>();

  constructor(store: Store, kind: 'likes' | 'saves') {
    this.#store = store;
    this.#kind = kind;
    this.#ids = new Set(store.read(kind)?.split(' ').filter(Boolean));
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Marks an item or takes the mark back. Answers what holds now. */
  toggle(item: FeedItem): boolean {
    const marked = !this.#ids.delete(item.id);
    if (marked) this.#ids.add(item.id);
    this.#changes.set(item, (this.#changes.get(item) ?? 0) + (marked ? 1 : -1));
    this.#store.write(this.#kind, [...this.#ids].slice(-keptItems).join(' '));
    return marked;
  }

  /** The count of an item, this browser's mark included. */
  countOf(item: FeedItem): number {
    return Math.max(0, item.engagement[this.#kind] + (this.#changes.get(item) ?? 0));
  }
}
