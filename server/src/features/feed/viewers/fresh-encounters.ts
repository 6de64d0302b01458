/**
 * Recent activity of viewers: events known to this process that the projection `feed-viewers` may
 * not have written yet. A generation is dropped once the projection has passed it. Merging is
 * idempotent, so it may be dropped late, but never early.
 */
import type { LoggedEvent } from '../../events/events.ts';
import { addEvent, emptyEncounter, type Encounter } from './encounter.ts';

/** Encounters by content id. */
export type FreshItems = Map<string, Encounter>;

type Generation = { readonly viewers: Map<string, FreshItems>; newestMs: number; size: number };

/** Maximum number of encounters in one generation, at about 250 bytes each. */
const maxSize = 40_000;
const maxGenerations = 3;
const generationMs = 2_000;

export class FreshEncounters {
  #generations: Generation[] = [newGeneration()];
  #startedAtMs = 0;

  /** Number of encounters in memory. */
  get size(): number {
    return this.#generations.reduce((sum, { size }) => sum + size, 0);
  }

  /** @returns the viewer's recent activity with the item, including the event */
  add(viewer: string, contentId: string, event: LoggedEvent, receivedAtMs: number): Encounter {
    const current = this.#current(receivedAtMs);
    let items = current.viewers.get(viewer);
    if (items === undefined) {
      items = new Map();
      current.viewers.set(viewer, items);
    }
    let encounter = items.get(contentId);
    if (encounter === undefined) {
      encounter = emptyEncounter();
      items.set(contentId, encounter);
      current.size += 1;
    }
    addEvent(encounter, event);
    current.newestMs = Math.max(current.newestMs, receivedAtMs);
    return encounter;
  }

  /** A viewer's recent activity, one map per generation. */
  of(viewer: string): FreshItems[] {
    return this.#generations.flatMap(({ viewers }) => viewers.get(viewer) ?? []);
  }

  /** Call when the projection has written everything received up to this time. */
  written(receivedAtMs: number): void {
    const kept = this.#generations.filter(
      (one, index) => index === this.#generations.length - 1 || one.newestMs >= receivedAtMs,
    );
    this.#generations = kept;
  }

  #current(receivedAtMs: number): Generation {
    const last = this.#generations.at(-1);
    if (
      last !== undefined &&
      last.size < maxSize &&
      receivedAtMs - this.#startedAtMs < generationMs
    ) {
      return last;
    }
    this.#startedAtMs = receivedAtMs;
    if (last?.size === 0) return last;
    const next = newGeneration();
    // Bounded: dropped encounters reappear once the projection has written them.
    this.#generations = [...this.#trimmed(), next];
    return next;
  }

  /** The generations kept besides a new one: all of them while they are small. */
  #trimmed(): Generation[] {
    const generations = [...this.#generations];
    let size = this.size;
    while (generations.length > 1 && size > maxGenerations * maxSize) {
      size -= generations.shift()?.size ?? 0;
    }
    return generations;
  }
}

function newGeneration(): Generation {
  return { viewers: new Map(), newestMs: 0, size: 0 };
}
