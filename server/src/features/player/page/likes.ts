import { type Store } from './storage.ts';

const name = 'likes';
const keptLikes = 1000;

/** Which items this browser has liked. Only the latest thousand are remembered. */
export class Likes {
  readonly #store: Store;
  readonly #ids: Set<string>;

  constructor(store: Store) {
    this.#store = store;
    this.#ids = new Set(store.read(name)?.split(' ').filter(Boolean));
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Likes an item or takes the like back. Answers what holds now. */
  toggle(id: string): boolean {
    const liked = !this.#ids.delete(id);
    if (liked) this.#ids.add(id);
    this.#store.write(name, [...this.#ids].slice(-keptLikes).join(' '));
    return liked;
  }
}
