import type { LoggedEvent } from './logged-event.ts';

const mostEvents = 12_000;

/**
 * The events of the blocks that this process has added last, so that its own projections need
 * neither decompress nor parse what was in memory a moment ago. Bounded by the number of events;
 * the oldest go first.
 */
export class RecentBlocks {
  readonly #blocks = new Map<number, readonly LoggedEvent[]>();
  #events = 0;

  add(sequence: number, events: readonly LoggedEvent[]): void {
    if (events.length > mostEvents) return;
    this.#blocks.set(sequence, events);
    this.#events += events.length;
    for (const [oldest, { length }] of this.#blocks) {
      if (this.#events <= mostEvents) return;
      this.#blocks.delete(oldest);
      this.#events -= length;
    }
  }

  sequences(): number[] {
    return [...this.#blocks.keys()];
  }

  find(sequence: number): readonly LoggedEvent[] | null {
    return this.#blocks.get(sequence) ?? null;
  }
}
