import { byFreshness, type EntryFields, type FeedEntry } from './feed-entry.ts';
import type { IndexedItem } from './index-queries.ts';
import { ItemStatistics } from './item-statistics.ts';

/** The best items of a tag are chosen from this many of its newest, and cached for a moment. */
const bestAmong = 1_000;
const bestKept = 60;
const bestForMs = 5_000;

/** Up to this many entries are moved one by one; more are merged by one sort. */
const maxSplices = 64;

/** What lists of entries are kept by. Videos have no list of their own: most items are videos. */
export type Facet = 'tag' | 'author' | 'section' | 'type';

const none: readonly FeedEntry[] = [];

/** The entries of one organization: by number, by id, newest first, and newest first by facet. */
export class OrganizationIndex {
  readonly #byNumber = new Map<number, FeedEntry>();
  readonly #byId = new Map<string, FeedEntry>();
  readonly #lists = new Map<string, FeedEntry[]>();
  readonly #best = new Map<string, { entries: readonly FeedEntry[]; untilMs: number }>();
  #newestFirst: FeedEntry[] = [];
  /** What viewers did with the items. */
  readonly statistics = new ItemStatistics(this);

  constructor(items: readonly IndexedItem[]) {
    this.apply(items);
  }

  get newestFirst(): readonly FeedEntry[] {
    return this.#newestFirst;
  }

  get size(): number {
    return this.#newestFirst.length;
  }

  find(serialNumber: number): FeedEntry | undefined {
    return this.#byNumber.get(serialNumber);
  }

  findById(contentId: string): FeedEntry | undefined {
    return this.#byId.get(contentId);
  }

  /** The entries with this value, newest first. */
  list(facet: Facet, value: string): readonly FeedEntry[] {
    if (facet === 'type' && value === 'video') return this.#newestFirst;
    return this.#lists.get(`${facet} ${value}`) ?? none;
  }

  /**
   * The most popular of the newest entries with a tag. They are chosen every few seconds, so an entry may
   * have left the index since.
   */
  bestOfTag(tag: string, nowMs: number): readonly FeedEntry[] {
    const list = this.list('tag', tag);
    if (list.length <= bestKept) return list;
    const known = this.#best.get(tag);
    if (known !== undefined && nowMs < known.untilMs) return known.entries;
    const entries = list
      .slice(0, bestAmong)
      .map((entry) => ({ entry, popularity: this.statistics.popularityOf(entry, nowMs) }))
      .toSorted((a, b) => b.popularity - a.popularity)
      .slice(0, bestKept)
      .map(({ entry }) => entry);
    this.#best.set(tag, { entries, untilMs: nowMs + bestForMs });
    return entries;
  }

  /** Lists of entries by author, for those who look for another author. */
  *authors(): Generator<readonly FeedEntry[]> {
    for (const [key, list] of this.#lists) if (key.startsWith('author ')) yield list;
  }

  /** Applies changed items. A version older than the known one changes nothing. */
  apply(items: readonly IndexedItem[]): void {
    const moved: IndexedItem[] = [];
    for (const item of items) {
      const known = this.#byNumber.get(item.serialNumber);
      if (known === undefined ? !item.isMember : item.revision < known.revision) continue;
      if (known !== undefined && item.isMember && staysInPlace(known, item)) update(known, item);
      else moved.push(item);
    }
    if (items.length > 0) this.statistics.markDirty();
    if (moved.length <= maxSplices) for (const item of moved) this.#move(item);
    else this.#merge(moved);
  }

  #move(item: IndexedItem): void {
    const known = this.#byNumber.get(item.serialNumber);
    if (known !== undefined) {
      removeFrom(this.#newestFirst, known);
      for (const key of listsOf(known)) this.#removeFromList(key, known);
    }
    const entry = this.#setMember(item, known);
    if (entry === null) return;
    insertInto(this.#newestFirst, entry);
    for (const key of listsOf(entry)) insertInto(this.#listFor(key), entry);
  }

  #merge(items: readonly IndexedItem[]): void {
    for (const item of items) this.#setMember(item, this.#byNumber.get(item.serialNumber));
    this.#newestFirst = [...this.#byNumber.values()].toSorted(byFreshness);
    this.#lists.clear();
    for (const entry of this.#newestFirst) {
      for (const key of listsOf(entry)) this.#listFor(key).push(entry);
    }
  }

  #setMember(item: IndexedItem, known: FeedEntry | undefined): FeedEntry | null {
    if (!item.isMember) {
      this.#byNumber.delete(item.serialNumber);
      this.#byId.delete(item.contentId);
      return null;
    }
    if (known !== undefined) return update(known, item);
    const entry: FeedEntry = { ...fieldsOf(item), stats: null, stamp: 0 };
    this.#byNumber.set(entry.serialNumber, entry);
    this.#byId.set(entry.contentId, entry);
    entry.stats = this.statistics.find(entry.serialNumber);
    return entry;
  }

  #listFor(key: string): FeedEntry[] {
    let list = this.#lists.get(key);
    if (list === undefined) {
      list = [];
      this.#lists.set(key, list);
    }
    return list;
  }

  #removeFromList(key: string, entry: FeedEntry): void {
    const list = this.#lists.get(key);
    if (list === undefined) return;
    removeFrom(list, entry);
    if (list.length > 0) return;
    this.#lists.delete(key);
    if (key.startsWith('tag ')) this.#best.delete(key.slice(4));
  }
}

function* listsOf({ tags, author, section, contentType }: EntryFields): Generator<string> {
  for (const [index, tag] of tags.entries()) {
    if (tags.indexOf(tag) === index) yield `tag ${tag}`;
  }
  if (author !== null) yield `author ${author}`;
  if (section !== null) yield `section ${section}`;
  if (contentType !== 'video') yield `type ${contentType}`;
}

/** Whether an entry is in the same lists, at the same places, with its new fields. */
function staysInPlace(known: EntryFields, item: EntryFields): boolean {
  return (
    known.freshSinceMs === item.freshSinceMs &&
    known.author === item.author &&
    known.section === item.section &&
    known.contentType === item.contentType &&
    known.tags.length === item.tags.length &&
    known.tags.every((tag, index) => tag === item.tags[index])
  );
}

function update(known: FeedEntry, item: IndexedItem): FeedEntry {
  return Object.assign(known, fieldsOf(item));
}

function fieldsOf(item: IndexedItem): EntryFields {
  const { organizationId: _, isMember: __, ...fields } = item;
  return fields;
}

function insertInto(list: FeedEntry[], entry: FeedEntry): void {
  list.splice(positionIn(list, entry), 0, entry);
}

function removeFrom(list: FeedEntry[], entry: FeedEntry): void {
  const position = positionIn(list, entry);
  if (list[position] === entry) list.splice(position, 1);
}

/** Where an entry stands, or would stand: the order has no two equal entries. */
function positionIn(list: readonly FeedEntry[], entry: EntryFields): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = list[middle];
    if (other !== undefined && byFreshness(other, entry) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
