/**
 * The stage `rules`: which candidates get the places of a page, and in which order. Nothing here
 * changes a score.
 *
 * 1. Pins have their places; two for one place stand behind each other, the older rule first.
 * 2. Live items stand at the head of a session, most viewers first.
 * 3. Two neighbours never have one author while an eligible item of another one is left.
 * 4. Further items of an author count less, and so does an item that is about the same as its two
 *    neighbours before it, both as far as `diversity` says.
 * 5. A share of the places goes to items that few viewers have met.
 * 6. What was seen comes when nothing else is left, least recently seen first.
 */
import type { FeedEntry } from '../items/feed-entry.ts';
import type { Choice } from './choice.ts';
import { matchesRule, type RuleMatch } from './editorial.ts';
import { drawExplorations } from './exploration.ts';
import { visitNewest } from './filter.ts';
import { rank, type Candidate } from './rank.ts';
import { shortlist } from './sources.ts';

export type Chosen = { readonly entry: FeedEntry; readonly isExploration: boolean };

export type Plan = {
  readonly chosen: readonly Chosen[];
  /** There was nothing left that the viewer has not seen. */
  readonly isExhausted: boolean;
};

export type PlanRequest = {
  readonly wanted: number;
  /** How many items the session has had before. */
  readonly position: number;
  /** The author of the item before; null where there is none. */
  readonly previousAuthor: string | null;
  /** Items that are live now, those with most viewers first. */
  readonly live: readonly FeedEntry[];
};

/** Chooses the next items of a session. What the session has had must be left out of `choice`. */
export function planItems(choice: Choice, request: PlanRequest): Plan {
  const pins = takePins(choice, request);
  const live = request.position === 0 ? request.live.filter((entry) => choice.take(entry)) : [];
  const explorations = drawExplorations(choice);
  const isSlot = explorationSlots(choice, request.wanted);
  // What is not explored competes with the others.
  const slots = Math.min(explorations.length, isSlot.size);
  for (const entry of explorations.splice(slots)) choice.putBack(entry);
  const pool = rank(choice, shortlist(choice));
  choice.checkTime();
  const picker = new Picker(choice, pool, request.previousAuthor);
  const chosen: Chosen[] = [];
  let isExhausted = false;
  while (chosen.length < request.wanted) {
    const place = request.position + chosen.length;
    const entry = pins.get(place) ?? live.shift() ?? null;
    const explored =
      entry === null && isSlot.has(chosen.length) ? picker.takeFitting(explorations) : null;
    const picked = entry ?? explored ?? picker.pick() ?? explorations.shift() ?? null;
    if (picked === null) {
      isExhausted = true;
      break;
    }
    pins.delete(place);
    picker.place(picked);
    chosen.push({ entry: picked, isExploration: explored !== null });
    if (chosen.length % 8 === 0) choice.checkTime();
  }
  // A page that is shorter than the place of a pin ends with it.
  for (const entry of pins.values()) chosen.push({ entry, isExploration: false });
  if (isExhausted) addSeen(choice, request.wanted, chosen);
  return { chosen: chosen.slice(0, request.wanted), isExhausted };
}

/** The entries that editors have pinned to places of this part of the session. */
function takePins(choice: Choice, { position, wanted }: PlanRequest): Map<number, FeedEntry> {
  const found = new Map<number, FeedEntry>();
  for (const pin of choice.parts.rules.pins) {
    if (pin.position < position || pin.position >= position + wanted) continue;
    const entry = findPinned(choice, pin.match);
    if (entry === null) continue;
    let place = pin.position;
    while (found.has(place)) place += 1;
    found.set(place, entry);
  }
  return found;
}

/** Takes the newest eligible entry that a pin means, whether it was seen or not. */
function findPinned(choice: Choice, match: RuleMatch): FeedEntry | null {
  const { index, filter } = choice.parts;
  if (match.contentId !== undefined) {
    const entry = index.findById(match.contentId);
    const fits = entry !== undefined && matchesRule(entry, match) && choice.takeSeen(entry);
    return fits ? entry : null;
  }
  let found: FeedEntry | null = null;
  const { tags, author = null, section = null } = match;
  const wanted = { ...filter, author: author ?? filter.author, section: section ?? filter.section };
  visitNewest(index, { ...wanted, tags: tags ?? filter.tags }, (entry) => {
    if (matchesRule(entry, match) && choice.takeSeen(entry)) found = entry;
    return found === null;
  });
  return found;
}

/** Places that go to exploration: evenly spread, from a random one on. */
function explorationSlots(choice: Choice, wanted: number): Set<number> {
  const { config, random } = choice.parts;
  const slots = new Set<number>();
  if (config.exploration <= 0) return slots;
  const distance = 1 / config.exploration;
  for (let at = random() * distance; at < wanted; at += distance) slots.add(Math.floor(at));
  return slots;
}

/** Fills up with what was seen before, least recently seen first. */
function addSeen(choice: Choice, wanted: number, chosen: Chosen[]): void {
  const { index, viewer } = choice.parts;
  if (viewer.size === 0) return;
  for (const serialNumber of viewer.hiddenItems(choice.nowSecond)) {
    if (chosen.length >= wanted) return;
    const entry = index.find(serialNumber);
    if (entry !== undefined && choice.takeSeen(entry)) chosen.push({ entry, isExploration: false });
  }
}

/**
 * At the diversity 1, the item of an author after n others counts (1 − 0.25)·0.5^n + 0.25: the discount
 * of X's home timeline. In a library of few authors that would outweigh everything else.
 */
const authorFloor = 0.25;
/**
 * What an item loses at most, at the diversity 1, that is about the same as its neighbours. A strong
 * liking moves a score by an eighth, so that much more would leave nothing of it.
 */
const maxLikenessDiscount = 0.3;
/** Entries of other authors that are fetched at once when the shortlist has none left. */
const othersAtOnce = 20;
/** Entries that are looked at for that. */
const maxOthersLookedAt = 3_000;

/** Picks the best of a pool for one place after another. The pool is sorted by falling keys. */
class Picker {
  readonly #choice: Choice;
  readonly #pool: Candidate[];
  readonly #timesOf = new Map<string, number>();
  #previous: FeedEntry | null = null;
  #beforePrevious: FeedEntry | null = null;
  #previousAuthor: string | null;
  #hasOthers = true;

  constructor(choice: Choice, pool: Candidate[], previousAuthor: string | null) {
    this.#choice = choice;
    this.#pool = pool;
    this.#previousAuthor = previousAuthor;
  }

  /** Removes and returns the best candidate for the next place; null when there is none. */
  pick(): FeedEntry | null {
    let best = this.#best(true);
    if (best === -1 && this.#pool.length > 0) {
      this.#fetchOthers();
      best = this.#best(true);
      if (best === -1) best = this.#best(false);
    }
    return best === -1 ? null : (this.#pool.splice(best, 1)[0]?.entry ?? null);
  }

  /** Removes and returns the first of `entries` that may stand at the next place. */
  takeFitting(entries: FeedEntry[]): FeedEntry | null {
    const index = entries.findIndex((entry) => !this.#isOfPreviousAuthor(entry));
    return index === -1 ? null : (entries.splice(index, 1)[0] ?? null);
  }

  place(entry: FeedEntry): void {
    if (entry.author !== null) {
      this.#timesOf.set(entry.author, (this.#timesOf.get(entry.author) ?? 0) + 1);
    }
    this.#beforePrevious = this.#previous;
    this.#previous = entry;
    this.#previousAuthor = entry.author;
  }

  #best(isOtherAuthor: boolean): number {
    const { diversity } = this.#choice.parts.config;
    let best = -1;
    let bestKey = -1;
    for (let index = 0; index < this.#pool.length; index += 1) {
      const candidate = this.#pool[index];
      // Keys fall from here on, and discounts only lower them.
      if (candidate === undefined || candidate.key <= bestKey) break;
      const { entry } = candidate;
      if (isOtherAuthor && this.#isOfPreviousAuthor(entry)) continue;
      let key = candidate.key * this.#authorDiscount(entry.author);
      if (key <= bestKey) continue;
      if (diversity > 0) key *= 1 - maxLikenessDiscount * diversity * this.#likeness(entry);
      if (key > bestKey) {
        best = index;
        bestKey = key;
      }
    }
    return best;
  }

  #isOfPreviousAuthor({ author }: FeedEntry): boolean {
    return author !== null && author === this.#previousAuthor;
  }

  #authorDiscount(author: string | null): number {
    const times = author === null ? 0 : (this.#timesOf.get(author) ?? 0);
    if (times === 0) return 1;
    const { diversity } = this.#choice.parts.config;
    return 1 - diversity * (1 - authorFloor) * (1 - 0.5 ** times);
  }

  /** How much an entry is about the same as the two before it: the greater Jaccard index of tags. */
  #likeness(entry: FeedEntry): number {
    return Math.max(
      this.#previous === null ? 0 : jaccard(entry.tags, this.#previous.tags),
      this.#beforePrevious === null ? 0 : jaccard(entry.tags, this.#beforePrevious.tags),
    );
  }

  /** The shortlist has one author left: looks for others beyond it. */
  #fetchOthers(): void {
    const { index, filter } = this.#choice.parts;
    if (!this.#hasOthers || filter.author !== null) return;
    const found: FeedEntry[] = [];
    let lookedAt = 0;
    for (const list of index.authors()) {
      if (found.length >= othersAtOnce || lookedAt >= maxOthersLookedAt) break;
      if (list[0]?.author === this.#previousAuthor) continue;
      for (const entry of list) {
        lookedAt += 1;
        const isTaken = this.#choice.take(entry);
        if (isTaken) found.push(entry);
        if (isTaken || lookedAt >= maxOthersLookedAt) break;
      }
    }
    this.#hasOthers = found.length > 0;
    for (const candidate of rank(this.#choice, found)) this.#pool.push(candidate);
    this.#pool.sort((a, b) => b.key - a.key);
  }
}

function jaccard(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return 0;
  let both = 0;
  for (const tag of a) if (b.includes(tag)) both += 1;
  return both / (a.length + b.length - both);
}
