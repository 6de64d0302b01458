/**
 * Collects what viewers did for a fit, within fixed bounds. A viewer counts once per item, and with
 * a limited number of items, however many events there are.
 */
import { dayMs } from '../../../platform/values/time.ts';
import {
  likingOf,
  readEncounters,
  latestEncounters,
  type Encounter,
} from '../viewers/encounter.ts';
import type { Watches } from './factorize.ts';

export const maxItemsOfViewer = 200;
export const maxViewers = 100_000;
export const maxWatches = 2_000_000;
/** An item encountered by fewer viewers gets no vector, because one viewer could determine it. */
export const leastViewers = 3;
/**
 * Viewers active on several days count in full; all others together count at most as much as these.
 */
const leastKnown = 50;
const mostLiking = 2;

/**
 * The outcome of an encounter: −0.7 for leaving at once, 1 for watching to the end, at most 2; null
 * if it reveals nothing.
 */
export function outcomeOf(encounter: Encounter): number | null {
  const liking = likingOf(encounter);
  if (liking === 0 && encounter.seenSecond === 0) return null;
  return Math.min(liking, mostLiking);
}

export type Gathered = { readonly watches: Watches; readonly viewersOf: (item: number) => number };

export class WatchCollector {
  readonly #starts = [0];
  readonly #items: number[] = [];
  readonly #outcomes: number[] = [];
  readonly #isKnown: boolean[] = [];

  get isFull(): boolean {
    return this.#isKnown.length >= maxViewers || this.#items.length >= maxWatches;
  }

  /** @param bytes the stored encounters of one viewer */
  add(bytes: Buffer): void {
    const days = new Set<number>();
    let added = 0;
    for (const [serialNumber, encounter] of latestEncounters(readEncounters(bytes))) {
      if (added >= maxItemsOfViewer) break;
      const outcome = outcomeOf(encounter);
      if (outcome === null) continue;
      this.#items.push(serialNumber);
      this.#outcomes.push(outcome);
      days.add(Math.floor((encounter.second * 1_000) / dayMs));
      added += 1;
    }
    // A viewer of only one item reveals nothing about which items belong together.
    if (added < 2) {
      this.#items.length -= added;
      this.#outcomes.length -= added;
      return;
    }
    this.#starts.push(this.#items.length);
    this.#isKnown.push(days.size > 1);
  }

  /** Everything added, except items that few viewers have encountered. */
  gather(): Gathered {
    const viewers = new Map<number, number>();
    for (const serialNumber of this.#items) {
      viewers.set(serialNumber, (viewers.get(serialNumber) ?? 0) + 1);
    }
    const kept = [...viewers].filter(([, count]) => count >= leastViewers).map(([one]) => one);
    const serialNumbers = Float64Array.from(kept).sort();
    const places = new Map(Array.from(serialNumbers, (one, place) => [one, place]));
    const starts = [0];
    const items: number[] = [];
    const outcomes: number[] = [];
    for (let viewer = 0; viewer < this.#isKnown.length; viewer += 1) {
      const end = this.#starts[viewer + 1] ?? 0;
      for (let at = this.#starts[viewer] ?? 0; at < end; at += 1) {
        const place = places.get(this.#items[at] ?? 0);
        if (place === undefined) continue;
        items.push(place);
        outcomes.push(this.#outcomes[at] ?? 0);
      }
      starts.push(items.length);
    }
    const watches = {
      starts: Uint32Array.from(starts),
      items: Uint32Array.from(items),
      outcomes: Float32Array.from(outcomes),
      weights: this.#weights(),
      serialNumbers,
    };
    return { watches, viewersOf: (item) => viewers.get(serialNumbers[item] ?? 0) ?? 0 };
  }

  #weights(): Float32Array {
    const known = this.#isKnown.filter((one) => one).length;
    const newcomers = this.#isKnown.length - known;
    // Fake viewers come in large numbers and mostly only once. Until any viewer is known, all are
    // new.
    const weight = known < leastKnown ? 1 : Math.min(1, known / Math.max(1, newcomers));
    return Float32Array.from(this.#isKnown, (isKnown) => (isKnown ? 1 : weight));
  }
}
