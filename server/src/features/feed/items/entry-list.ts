import { byFreshness, type FeedEntry, type OrderPlace } from './feed-entry.ts';

/**
 * A chunk is split beyond this size. A single array of a million entries would have to be shifted
 * for each change; chunks of this size take a microsecond.
 */
const maxChunk = 512;

let numbers = 0;

/**
 * Entries in chunks, newest first. The cost of adding or removing an entry hardly depends on the
 * length of the list. Chunks are never empty. A walk over a list must end before the list changes.
 */
export class EntryList implements Iterable<FeedEntry> {
  /** Identifies the list and the value its entries share. */
  readonly number = (numbers += 1);
  #chunks: FeedEntry[][] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The entry at a zero-based index. Takes one step per preceding chunk. */
  at(place: number): FeedEntry | undefined {
    let rest = place;
    for (const chunk of this.#chunks) {
      if (rest < chunk.length) return chunk[rest];
      rest -= chunk.length;
    }
    return undefined;
  }

  /** Up to `count` of the newest entries. */
  first(count: number): FeedEntry[] {
    const found: FeedEntry[] = [];
    for (const chunk of this.#chunks) {
      if (found.length >= count) break;
      found.push(...chunk.slice(0, count - found.length));
    }
    return found;
  }

  [Symbol.iterator](): EntryWalk {
    return new EntryWalk(this.#chunks);
  }

  /** A walk that starts after a place in the order, even if no entry is there. */
  walkFrom(place: OrderPlace): EntryWalk {
    const chunk = this.#chunkOf(place);
    const entries = this.#chunks[chunk] ?? [];
    const position = positionIn(entries, place);
    const isThere = entries[position] !== undefined && byFreshness(entries[position], place) === 0;
    return new EntryWalk(this.#chunks, chunk, isThere ? position + 1 : position);
  }

  /** Adds an entry that is not in the list. */
  add(entry: FeedEntry): void {
    this.#length += 1;
    const place = this.#chunkOf(entry);
    const chunk = this.#chunks[place];
    if (chunk === undefined) {
      this.#append(entry);
      return;
    }
    const position = positionIn(chunk, entry);
    if (position === 0 && place === 0 && chunk.length >= maxChunk) {
      // New items are usually newer than all others: leave full chunks untouched.
      this.#chunks.unshift([entry]);
      return;
    }
    chunk.splice(position, 0, entry);
    if (chunk.length > maxChunk) this.#split(place, chunk);
  }

  /** Removes an entry. Its fields must be those it was added with. */
  remove(entry: FeedEntry): void {
    const place = this.#chunkOf(entry);
    const chunk = this.#chunks[place];
    if (chunk === undefined) return;
    const position = positionIn(chunk, entry);
    if (chunk[position] !== entry) return;
    this.#length -= 1;
    chunk.splice(position, 1);
    if (chunk.length === 0) this.#chunks.splice(place, 1);
    else if (chunk.length < maxChunk / 4) this.#joinNext(place, chunk);
  }

  /** Adds an entry that is older than all others. */
  #append(entry: FeedEntry): void {
    const last = this.#chunks.at(-1);
    if (last === undefined || last.length >= maxChunk) this.#chunks.push([entry]);
    else last.push(entry);
  }

  #split(place: number, chunk: FeedEntry[]): void {
    this.#chunks.splice(place + 1, 0, chunk.splice(chunk.length >>> 1));
  }

  /** Many small adjacent chunks would slow down walks and searches. */
  #joinNext(place: number, chunk: FeedEntry[]): void {
    const next = this.#chunks[place + 1];
    if (next === undefined || chunk.length + next.length > maxChunk / 2) return;
    chunk.push(...next);
    this.#chunks.splice(place + 1, 1);
  }

  /** The first chunk whose last entry is not before this one. */
  #chunkOf(entry: OrderPlace): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const last = this.#chunks[middle]?.at(-1);
      if (last !== undefined && byFreshness(last, entry) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Iterates over a list, newest first. */
export class EntryWalk implements Iterator<FeedEntry, undefined> {
  readonly #chunks: readonly (readonly FeedEntry[])[];
  #chunk: readonly FeedEntry[] | undefined;
  #place: number;
  #position: number;

  constructor(chunks: readonly (readonly FeedEntry[])[], place = 0, position = 0) {
    this.#chunks = chunks;
    this.#place = place;
    this.#position = position;
    this.#chunk = chunks[place];
  }

  /** The next entry, or undefined at the end. */
  step(): FeedEntry | undefined {
    while (this.#chunk !== undefined) {
      const entry = this.#chunk[this.#position];
      if (entry !== undefined) {
        this.#position += 1;
        return entry;
      }
      this.#place += 1;
      this.#position = 0;
      this.#chunk = this.#chunks[this.#place];
    }
    return undefined;
  }

  next(): IteratorResult<FeedEntry, undefined> {
    const value = this.step();
    return value === undefined ? { done: true, value } : { done: false, value };
  }
}

/**
 * The index of an entry, or the one at which it would be inserted. No two entries compare as equal.
 */
function positionIn(chunk: readonly FeedEntry[], entry: OrderPlace): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = chunk[middle];
    if (other !== undefined && byFreshness(other, entry) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
