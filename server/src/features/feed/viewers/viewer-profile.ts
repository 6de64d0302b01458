/** A process's knowledge of a viewer that it serves. */
import {
  affinityOf,
  neutral,
  usualLikeRate,
  type Affinities,
} from '../ranking/signals/affinity.ts';
import {
  emptyEncounter,
  encounterBytes,
  isRefusal,
  isSet,
  likingOf,
  mergeEncounter,
  readEncounter,
  type Encounter,
  type Encounters,
  type Refused,
  writeEncounter,
} from './encounter.ts';
import { dayMs } from '../../../platform/values/time.ts';

export type About = { readonly tags: readonly string[]; readonly author: string | null };

/** Time for which seen items stay hidden. */
const hiddenSeconds = 30 * 24 * 3_600;
/** Number of favourites that contribute candidates. */
const maxFavourites = 8;
/** A favourite must be clearly above neutral. */
const favouriteFrom = neutral + 0.05;
/** Factor on the score of an item whose author or tags the viewer wants less of. */
const unwantedFactor = 0.25;

type Liking = { liked: number; disliked: number };
type Likings = Map<string, Liking>;

/** The items, tags and authors that a viewer has rejected. */
type Refusals = {
  /** By serial number: items with any rejection, past or present. */
  readonly items: Map<number, Refused>;
  /** Number of these that reject a tag or an author. */
  readonly tags: Map<string, number>;
  readonly authors: Map<string, number>;
};

/**
 * Encounters are kept as their stored bytes next to sorted serial numbers; as objects, they would
 * take five times the memory. Changes since loading are kept separately.
 */
export class ViewerProfile {
  readonly #serialNumbers: Float64Array;
  readonly #seenSeconds: Uint32Array;
  readonly #bytes: Buffer;
  readonly #fresh: Encounters = new Map();
  /** Null for most viewers, who have rejected nothing. */
  #refusals: Refusals | null = null;
  readonly #halfLifeMs: number;
  readonly #tags: Likings = new Map();
  readonly #authors: Likings = new Map();
  readonly #all: Liking = { liked: 0, disliked: 0 };
  readonly #affinities = { tags: new Map<string, number>(), authors: new Map<string, number>() };
  #isStale = true;
  #favourites: { tags: readonly string[]; authors: readonly string[] } | null = null;
  #latestSecond = 0;
  #version = 0;
  #country: string | null = null;

  /**
   * @param about the topics of an item, or null if they are no longer known
   * @param isIdentified a user, whose preferences fade more slowly than those of a device
   */
  constructor(
    encounters: Encounters,
    about: (serialNumber: number) => About | null,
    { nowMs, isIdentified }: { nowMs: number; isIdentified: boolean },
  ) {
    this.#halfLifeMs = (isIdentified ? 30 : 7) * dayMs;
    const sorted = [...encounters].toSorted(([a], [b]) => a - b);
    this.#serialNumbers = new Float64Array(sorted.length);
    this.#seenSeconds = new Uint32Array(sorted.length);
    this.#bytes = Buffer.allocUnsafeSlow(sorted.length * encounterBytes);
    for (const [index, [serialNumber, encounter]] of sorted.entries()) {
      this.#serialNumbers[index] = serialNumber;
      this.#seenSeconds[index] = encounter.seenSecond;
      writeEncounter(serialNumber, encounter, this.#bytes, index * encounterBytes);
      this.#noticeCountry(encounter);
      if (isRefusal(encounter.refused)) {
        this.#refuse(serialNumber, encounter.refused, about(serialNumber));
      }
      const liking = likingOf(encounter);
      if (liking !== 0) this.#like(about(serialNumber), 0, this.#faded(liking, encounter, nowMs));
    }
  }

  /** Changes with everything the viewer does. */
  get version(): number {
    return this.#version;
  }

  /** The viewer's last known country. */
  get country(): string | null {
    return this.#country;
  }

  /** The viewer's affinities to tags and authors. Recomputed after preferences have changed. */
  get affinities(): { readonly tags: Affinities; readonly authors: Affinities } {
    if (this.#isStale) this.#computeAffinities();
    return this.#affinities;
  }

  /** Number of items the viewer has encountered. */
  get size(): number {
    return this.#serialNumbers.length + this.#fresh.size;
  }

  /** The viewer's favourite tags and authors, best first. */
  get favourites(): { readonly tags: readonly string[]; readonly authors: readonly string[] } {
    this.#favourites ??= {
      tags: bestOf(this.affinities.tags),
      authors: bestOf(this.affinities.authors),
    };
    return this.#favourites;
  }

  /** Whether the viewer does not want to be shown an item again. */
  isRefused(serialNumber: number): boolean {
    if (this.#refusals === null) return false;
    return isSet(this.#refusals.items.get(serialNumber)?.item ?? 0);
  }

  /** The factor on the score of an item: less than 1 for an unwanted author or tag. */
  factorOf({ tags, author }: About): number {
    const unwanted = this.#refusals;
    if (unwanted === null) return 1;
    const isUnwanted =
      (author !== null && unwanted.authors.has(author)) ||
      tags.some((tag) => unwanted.tags.has(tag));
    return isUnwanted ? unwantedFactor : 1;
  }

  /** When the viewer last saw an item, in seconds; 0 if never or if it is no longer hidden. */
  seenSecondOf(serialNumber: number, nowSecond: number): number {
    const fresh = this.#fresh.size === 0 ? undefined : this.#fresh.get(serialNumber);
    const index = fresh === undefined ? this.#indexOf(serialNumber) : -1;
    const second = fresh?.seenSecond ?? (index < 0 ? 0 : (this.#seenSeconds[index] ?? 0));
    return second > nowSecond - hiddenSeconds ? second : 0;
  }

  /** Serial numbers of hidden items, least recently seen first. */
  hiddenItems(nowSecond: number): number[] {
    const found: { serialNumber: number; second: number }[] = [];
    const add = (serialNumber: number) => {
      const second = this.seenSecondOf(serialNumber, nowSecond);
      if (second > 0) found.push({ serialNumber, second });
    };
    for (const serialNumber of this.#serialNumbers) {
      if (!this.#fresh.has(serialNumber)) add(serialNumber);
    }
    for (const serialNumber of this.#fresh.keys()) add(serialNumber);
    return found
      .toSorted((a, b) => a.second - b.second || a.serialNumber - b.serialNumber)
      .map(({ serialNumber }) => serialNumber);
  }

  /** Merges new activity of the viewer. Idempotent. */
  add(serialNumber: number, encounter: Encounter, about: About | null): void {
    this.#version += 1;
    const before = this.#fresh.get(serialNumber) ?? this.#stored(serialNumber);
    const after = { ...before };
    mergeEncounter(after, encounter);
    this.#fresh.set(serialNumber, after);
    this.#noticeCountry(after);
    if (after.refused !== before.refused) this.#refuse(serialNumber, after.refused, about);
    const [was, is] = [likingOf(before), likingOf(after)];
    if (was === is) return;
    this.#like(about, was, is);
    // Every affinity is relative to the viewer's usual behaviour.
    this.#isStale = true;
    this.#favourites = null;
  }

  /** The encounters the profile was loaded with. */
  *storedEncounters(): Generator<readonly [serialNumber: number, Encounter]> {
    for (const [index, serialNumber] of this.#serialNumbers.entries()) {
      yield [serialNumber, readEncounter(this.#bytes, index * encounterBytes)];
    }
  }

  /** Changed encounters: their state at loading (null for new items) and now. */
  *freshEncounters(): Generator<readonly [serialNumber: number, Encounter | null, Encounter]> {
    for (const [serialNumber, now] of this.#fresh) {
      const index = this.#indexOf(serialNumber);
      const before = index < 0 ? null : readEncounter(this.#bytes, index * encounterBytes);
      yield [serialNumber, before, now];
    }
  }

  #stored(serialNumber: number): Encounter {
    const index = this.#indexOf(serialNumber);
    if (index < 0) return emptyEncounter();
    const encounter = readEncounter(this.#bytes, index * encounterBytes);
    const refused = this.#refusals?.items.get(serialNumber);
    return refused === undefined ? encounter : { ...encounter, refused };
  }

  #refuse(serialNumber: number, refused: Refused, about: About | null): void {
    this.#refusals ??= { items: new Map(), tags: new Map(), authors: new Map() };
    const { items, tags, authors } = this.#refusals;
    const before = items.get(serialNumber);
    items.set(serialNumber, refused);
    this.#isStale = true;
    this.#favourites = null;
    if (about === null) return;
    const author = Number(isSet(refused.author)) - Number(isSet(before?.author ?? 0));
    const tag = Number(isSet(refused.tag)) - Number(isSet(before?.tag ?? 0));
    if (about.author !== null) addCount(authors, about.author, author);
    for (const name of about.tags) addCount(tags, name, tag);
  }

  #indexOf(serialNumber: number): number {
    const numbers = this.#serialNumbers;
    let low = 0;
    let high = numbers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((numbers[middle] ?? 0) < serialNumber) low = middle + 1;
      else high = middle;
    }
    return numbers[low] === serialNumber ? low : -1;
  }

  #noticeCountry({ second, country }: Encounter): void {
    if (country === '' || second < this.#latestSecond) return;
    this.#latestSecond = second;
    this.#country = country;
  }

  #faded(liking: number, { second }: Encounter, nowMs: number): number {
    return liking * 0.5 ** (Math.max(0, nowMs - second * 1_000) / this.#halfLifeMs);
  }

  /** Replaces an item's old preference by a new one. */
  #like(about: About | null, was: number, is: number): void {
    if (about === null) return;
    const liked = Math.max(0, is) - Math.max(0, was);
    const disliked = Math.max(0, -is) - Math.max(0, -was);
    this.#all.liked = Math.max(0, this.#all.liked + liked);
    this.#all.disliked = Math.max(0, this.#all.disliked + disliked);
    for (const tag of about.tags) addTo(this.#tags, tag, liked, disliked);
    if (about.author !== null) addTo(this.#authors, about.author, liked, disliked);
  }

  #computeAffinities(): void {
    this.#isStale = false;
    const usual = usualLikeRate(this.#all);
    const { tags, authors } = this.#affinities;
    tags.clear();
    authors.clear();
    for (const [tag, liking] of this.#tags) tags.set(tag, affinityOf(liking, usual));
    for (const [author, liking] of this.#authors) authors.set(author, affinityOf(liking, usual));
    for (const tag of this.#refusals?.tags.keys() ?? []) tags.set(tag, 0);
    for (const author of this.#refusals?.authors.keys() ?? []) authors.set(author, 0);
  }
}

function addCount(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}

function addTo(likings: Likings, name: string, liked: number, disliked: number): void {
  const found = likings.get(name);
  if (found === undefined) {
    likings.set(name, { liked: Math.max(0, liked), disliked: Math.max(0, disliked) });
    return;
  }
  found.liked = Math.max(0, found.liked + liked);
  found.disliked = Math.max(0, found.disliked + disliked);
}

function bestOf(affinities: ReadonlyMap<string, number>): string[] {
  return [...affinities]
    .filter(([, affinity]) => affinity > favouriteFrom)
    .toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
    .slice(0, maxFavourites)
    .map(([name]) => name);
}
