import { type FeedItem } from '../types.ts';
import { type Store } from './store.ts';

const keptItems = 1000;
/** Number of users per browser whose marks are kept, most recent first. */
const keptUsers = 8;
/** Number of unconfirmed changes that are kept. Without a signature, none is ever confirmed. */
const keptChanges = 50;

/**
 * How long a change overrides an older response of the service, counted from when it was made or
 * the page was reopened, because its event may still be queued.
 */
const changeStandsMs = 60_000;

/**
 * The items a viewer has liked or saved. The viewer is the user if the page names one, otherwise
 * the browser. Only the latest thousand are remembered. For a user with a signature, the service
 * knows the marks of all devices, and its responses replace those of this browser.
 */
export class Marks {
  readonly #store: Store;
  readonly #name: string;
  readonly #kind: 'likes' | 'saves';
  readonly #ids: Set<string>;
  /** Corrections to an item's count, which was read before the viewer changed a mark. */
  readonly #changes = new WeakMap<FeedItem, number>();
  /** When unconfirmed marks changed, by item id. */
  readonly #unconfirmed: Map<string, number>;
  readonly #now: () => number;

  constructor(
    store: Store,
    kind: 'likes' | 'saves',
    userId: string | null,
    now: () => number = () => performance.now(),
  ) {
    this.#now = now;
    this.#store = store;
    this.#kind = kind;
    this.#name = userId === null ? kind : `${kind}.${nameOf(userId)}`;
    if (userId !== null) rememberUser(store, nameOf(userId));
    this.#ids = new Set(wordsIn(store.read(this.#name)));
    const openedAt = now();
    const unconfirmed = wordsIn(store.read(`${this.#name}.unconfirmed`));
    this.#unconfirmed = new Map(unconfirmed.map((id) => [id, openedAt]));
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /**
   * Toggles the mark of an item.
   *
   * @returns whether it is now marked
   */
  toggle(item: FeedItem): boolean {
    const marked = !this.#ids.delete(item.id);
    if (marked) this.#ids.add(item.id);
    this.#changes.set(item, (this.#changes.get(item) ?? 0) + (marked ? 1 : -1));
    this.#unconfirmed.set(item.id, this.#now());
    this.#keep();
    return marked;
  }

  /**
   * Applies the service's response, which says which of the items `asked` are marked. Changes that
   * it can't know about yet are kept.
   */
  take(asked: readonly string[], marked: readonly string[]): void {
    for (const id of asked) {
      const isMarked = marked.includes(id);
      const changedAt = this.#unconfirmed.get(id) ?? -Infinity;
      const agrees = isMarked === this.#ids.has(id);
      if (!agrees && this.#now() - changedAt < changeStandsMs) continue;
      this.#unconfirmed.delete(id);
      if (isMarked) this.#ids.add(id);
      else this.#ids.delete(id);
    }
    this.#keep();
  }

  #keep(): void {
    this.#store.write(this.#name, lastWords(this.#ids, keptItems));
    const unconfirmed = `${this.#name}.unconfirmed`;
    if (this.#unconfirmed.size === 0) this.#store.remove(unconfirmed);
    else this.#store.write(unconfirmed, lastWords(this.#unconfirmed.keys(), keptChanges));
  }

  /** The count of an item, including this viewer's mark. */
  countOf(item: FeedItem): number {
    return Math.max(0, item.engagement[this.#kind] + (this.#changes.get(item) ?? 0));
  }
}

function wordsIn(text: string | null): string[] {
  return text?.split(' ').filter(Boolean) ?? [];
}

function lastWords(words: Iterable<string>, count: number): string {
  return [...words].slice(-count).join(' ');
}

/** Makes room, because a shared browser must not fill its storage. */
function rememberUser(store: Store, name: string): void {
  const known = (store.read('users') ?? '')
    .split(' ')
    .filter((other) => other !== '' && other !== name);
  const users = [...known, name];
  for (const old of users.slice(0, -keptUsers)) {
    for (const name of [`likes.${old}`, `saves.${old}`]) {
      store.remove(name);
      store.remove(`${name}.unconfirmed`);
    }
  }
  store.write('users', users.slice(-keptUsers).join(' '));
}

/**
 * Two FNV-1a hashes of a user id, so that the storage of a shared browser does not list its users.
 */
function nameOf(userId: string): string {
  const hash = (seed: number): string => {
    let value = seed;
    for (const unit of userId) value = Math.imul(value ^ (unit.codePointAt(0) ?? 0), 16_777_619);
    return (value >>> 0).toString(16).padStart(8, '0');
  };
  return hash(2_166_136_261) + hash(84_696_351);
}
