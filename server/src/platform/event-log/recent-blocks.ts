const maxEvents = 12_000;

/**
 * The events of the blocks that this process has appended most recently, so that its own
 * projections need not decompress and parse what was in memory a moment ago. The number of events
 * is limited; the oldest blocks are evicted first.
 */
export class RecentBlocks<Event> {
  readonly #blocks = new Map<number, readonly Event[]>();
  #events = 0;

  add(sequence: number, events: readonly Event[]): void {
    if (events.length > maxEvents) return;
    this.#blocks.set(sequence, events);
    this.#events += events.length;
    for (const [oldest, { length }] of this.#blocks) {
      if (this.#events <= maxEvents) return;
      this.#blocks.delete(oldest);
      this.#events -= length;
    }
  }

  sequences(): number[] {
    return [...this.#blocks.keys()];
  }

  find(sequence: number): readonly Event[] | null {
    return this.#blocks.get(sequence) ?? null;
  }
}
