import { EntryList } from './entry-list.ts';
import type { EntryFields, FeedEntry } from './feed-entry.ts';
import type { IndexedItem } from './index-queries.ts';
import type { ItemVectors } from '../taste/item-vectors.ts';
import { FeedItemStatistics } from './item-statistics.ts';
import { Slices } from './slices.ts';

/** The best items of a tag are selected from this many of its newest, and cached briefly. */
const bestAmong = 1_000;
const bestKept = 60;
const bestForMs = 5_000;

/**
 * The facets with lists of entries. Videos have no list of their own, because most items are
 * videos.
 */
export type Facet = 'tag' | 'author' | 'section' | 'type';
type Lists = Map<string, EntryList>;

const none = new EntryList();

/** The entries of one organization: by number, by id, newest first, and newest first by facet. */
export class OrganizationIndex {
  readonly #byNumber = new Map<number, FeedEntry>();
  readonly #byId = new Map<string, FeedEntry>();
  readonly #lists: Readonly<Record<Facet, Lists>> = {
    tag: new Map(),
    author: new Map(),
    section: new Map(),
    type: new Map(),
  };
  readonly #best = new Map<string, { entries: readonly FeedEntry[]; untilMs: number }>();
  readonly newestFirst = new EntryList();
  #version = 0;
  /** Viewer activity on the items. */
  readonly statistics = new FeedItemStatistics(this);
  /** Co-watching vectors of items, or null while nothing is known. */
  vectors: ItemVectors | null = null;

  constructor(items: readonly IndexedItem[] = []) {
    for (const item of items) this.#set(item);
  }

  /** Changes whenever an item changes. */
  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.newestFirst.length;
  }

  find(serialNumber: number): FeedEntry | undefined {
    return this.#byNumber.get(serialNumber);
  }

  findById(contentId: string): FeedEntry | undefined {
    return this.#byId.get(contentId);
  }

  /** The entries with this value, newest first. */
  list(facet: Facet, value: string): EntryList {
    if (facet === 'type' && value === 'video') return this.newestFirst;
    return this.#lists[facet].get(value) ?? none;
  }

  /**
   * The most popular of the newest entries with a tag. They are selected every few seconds, so an
   * entry may have left the index since.
   */
  bestOfTag(tag: string, nowMs: number): Iterable<FeedEntry> {
    const list = this.list('tag', tag);
    if (list.length <= bestKept) return list;
    const known = this.#best.get(tag);
    if (known !== undefined && nowMs < known.untilMs) return known.entries;
    const entries = list
      .first(bestAmong)
      .map((entry) => ({ entry, popularity: this.statistics.popularityOf(entry, nowMs) }))
      .toSorted((a, b) => b.popularity - a.popularity)
      .slice(0, bestKept)
      .map(({ entry }) => entry);
    this.#best.set(tag, { entries, untilMs: nowMs + bestForMs });
    return entries;
  }

  authors(): Iterable<EntryList> {
    return this.#lists.author.values();
  }

  /**
   * Applies each changed item atomically, in slices between which pages are served. A version older
   * than the known one is ignored.
   */
  async apply(items: readonly IndexedItem[]): Promise<void> {
    if (items.length > 0) this.statistics.markDirty();
    const slices = new Slices();
    for (const item of items) {
      this.#set(item);
      if (slices.isOver()) await slices.pause();
    }
  }

  /** Touches only the lists that the item leaves or enters. */
  #set(item: IndexedItem): void {
    const known = this.#byNumber.get(item.serialNumber);
    if (known === undefined) {
      if (!item.isMember) return;
      this.#version += 1;
      this.#add(item);
      return;
    }
    if (item.revision < known.revision) return;
    this.#version += 1;
    if (!item.isMember) this.#remove(known);
    else if (isSamePlace(known, item)) this.#update(known, item);
    else this.#move(known, item);
  }

  #add(item: IndexedItem): void {
    const entry: FeedEntry = {
      ...fieldsOf(item),
      tagNumbers: [],
      authorNumber: 0,
      stats: null,
      countedAt: performance.now(),
      stamp: 0,
    };
    this.#byNumber.set(entry.serialNumber, entry);
    this.#byId.set(entry.contentId, entry);
    entry.stats = this.statistics.find(entry.serialNumber);
    this.newestFirst.add(entry);
    for (const [facet, value] of facetsOf(entry)) this.#addTo(facet, value, entry);
    this.#number(entry);
  }

  #remove(entry: FeedEntry): void {
    this.#byNumber.delete(entry.serialNumber);
    this.#byId.delete(entry.contentId);
    this.newestFirst.remove(entry);
    for (const [facet, value] of facetsOf(entry)) this.#removeFrom(facet, value, entry);
  }

  /** If an entry keeps its place in the order, only the lists of gained or lost facets change. */
  #update(entry: FeedEntry, item: IndexedItem): void {
    const before = [...facetsOf(entry)];
    const after = [...facetsOf(item)];
    const isIn = (list: typeof before, facet: Facet, value: string) =>
      list.some((one) => one[0] === facet && one[1] === value);
    for (const [facet, value] of before) {
      if (!isIn(after, facet, value)) this.#removeFrom(facet, value, entry);
    }
    Object.assign(entry, fieldsOf(item));
    for (const [facet, value] of after) {
      if (!isIn(before, facet, value)) this.#addTo(facet, value, entry);
    }
    this.#number(entry);
  }

  #move(entry: FeedEntry, item: IndexedItem): void {
    this.newestFirst.remove(entry);
    for (const [facet, value] of facetsOf(entry)) this.#removeFrom(facet, value, entry);
    Object.assign(entry, fieldsOf(item));
    this.newestFirst.add(entry);
    for (const [facet, value] of facetsOf(entry)) this.#addTo(facet, value, entry);
    this.#number(entry);
  }

  /** The number of a tag's or author's list identifies it while any entry has it. */
  #number(entry: FeedEntry): void {
    const { tags, author } = entry;
    const unique = tags.filter((tag, index) => tags.indexOf(tag) === index);
    entry.tagNumbers = unique.map((tag) => this.list('tag', tag).number);
    entry.authorNumber = author === null ? 0 : this.list('author', author).number;
  }

  #addTo(facet: Facet, value: string, entry: FeedEntry): void {
    const lists = this.#lists[facet];
    let list = lists.get(value);
    if (list === undefined) lists.set(value, (list = new EntryList()));
    list.add(entry);
  }

  #removeFrom(facet: Facet, value: string, entry: FeedEntry): void {
    const list = this.#lists[facet].get(value);
    if (list === undefined) return;
    list.remove(entry);
    if (list.length > 0) return;
    this.#lists[facet].delete(value);
    if (facet === 'tag') this.#best.delete(value);
  }
}

function* facetsOf({
  tags,
  author,
  section,
  contentType,
}: EntryFields): Generator<readonly [Facet, string]> {
  for (const [index, tag] of tags.entries()) {
    if (tags.indexOf(tag) === index) yield ['tag', tag];
  }
  if (author !== null) yield ['author', author];
  if (section !== null) yield ['section', section];
  if (contentType !== 'video') yield ['type', contentType];
}

/** Whether an entry keeps its place in every list. */
function isSamePlace(known: EntryFields, item: EntryFields): boolean {
  return known.freshSinceMs === item.freshSinceMs;
}

function fieldsOf(item: IndexedItem): EntryFields {
  const { organizationId: _, isMember: __, ...fields } = item;
  return fields;
}
