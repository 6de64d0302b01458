import { type FeedItem } from '@reelfeed/client';
import { type Store } from './storage.ts';

const name = 'likes';
const keptLikes = 1000;

/** Which items this browser has liked. Only the latest thousand are remembered. */
export class Likes {
  readonly #store: Store;
  readonly #ids: Set<string>;
  /** Liked after they were read, so that their own count lacks it. */
  readonly #uncounted = new WeakSet<FeedItem>();

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
    if (liked) this.#uncounted.add(item);
    else this.#uncounted.delete(item);
    this.#store.write(name, [...this.#ids].slice(-keptLikes).join(' '));
    return liked;
  }

  /** The likes of an item, this browser's included. */
  countOf(item: FeedItem): number {
    return item.engagement.likes + (this.#uncounted.has(item) ? 1 : 0);
  }
}
