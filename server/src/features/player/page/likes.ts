import { type FeedItem } from '@reelfeed/client';
import { type Store } from './storage.ts';

const name = 'likes';
const keptLikes = 1000;

/** Which items this browser has liked. Only the latest thousand are remembered. */
export class Likes {
  readonly #store: Store;
  readonly #ids: Set<string>;
  /** What the count of an item lacks, because it was read before the viewer changed their mind. */
  readonly #changes = new WeakMap<FeedItem, number>();

  constructor(store: Store) {
    this.#store = store;
    this.#ids = new Set(store.read(name)?.split(' ').filter(Boolean));
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Likes an item or takes the like back. Answers what holds now. */
  toggle(item: FeedItem): boolean {
    const liked = !this.#ids.delete(item.id);
    if (liked) this.#ids.add(item.id);
    this.#changes.set(item, (this.#changes.get(item) ?? 0) + (liked ? 1 : -1));
    this.#store.write(name, [...this.#ids].slice(-keptLikes).join(' '));
    return liked;
  }

  /** The likes of an item, this browser's included. */
  countOf(item: FeedItem): number {
    return Math.max(0, item.engagement.likes + (this.#changes.get(item) ?? 0));
  }
}
