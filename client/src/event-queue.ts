import { type TrackedEvent } from './events.ts';

/** The state of an event; see event-sender.ts. */
export type EventState = 'waiting' | 'sending' | 'parting' | 'beaconed';

export type QueuedEvent = {
  readonly event: TrackedEvent;
  readonly json: string;
  readonly sizeBytes: number;
  /** In the order in which they were added. */
  readonly sequence: number;
  /** On the monotonic clock. */
  readonly addedAtMs: number;
  state: EventState;
};

export type QueueBounds = {
  readonly events: number;
  readonly sizeBytes: number;
};

/** Limits of one request. A browser sends at most 64 KiB from a page that is closing. */
export const batchBounds: QueueBounds = { events: 100, sizeBytes: 60_000 };

const encoder = new TextEncoder();

/** Unacknowledged events in order of arrival, within limits. */
export class EventQueue {
  readonly #bounds: QueueBounds;
  readonly #events = new Map<string, QueuedEvent>();
  #sizeBytes = 0;
  #added = 0;

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#events.size;
  }

  /** The sequence of the most recently added event. */
  get lastSequence(): number {
    return this.#added;
  }

  /** The sequence of the oldest queued event, or null if there is none. */
  get firstSequence(): number | null {
    for (const { sequence } of this.#events.values()) return sequence;
    return null;
  }

  /**
   * Adds an event unless it is already queued.
   *
   * @param json the event as text
   * @returns the events dropped to make room, oldest first
   */
  add(event: TrackedEvent, json: string, nowMs: number): QueuedEvent[] {
    if (this.#events.has(event.eventId)) return [];
    const sizeBytes = encoder.encode(json).length;
    this.#added += 1;
    const added: QueuedEvent = {
      event,
      json,
      sizeBytes,
      sequence: this.#added,
      addedAtMs: nowMs,
      state: 'waiting',
    };
    this.#events.set(event.eventId, added);
    this.#sizeBytes += sizeBytes;
    return this.#makeRoom();
  }

  /** Adds the user to waiting events that have none. */
  nameUser(userId: string, signature?: string): void {
    for (const [eventId, queued] of this.#events) {
      if (queued.state !== 'waiting' || queued.event.userId !== undefined) continue;
      const event = { ...queued.event, userId, ...(signature !== undefined && { signature }) };
      const json = JSON.stringify(event);
      const sizeBytes = encoder.encode(json).length;
      this.#sizeBytes += sizeBytes - queued.sizeBytes;
      // Replaces the value but keeps its position in the order.
      this.#events.set(eventId, { ...queued, event, json, sizeBytes });
    }
  }

  /** Returns false if it is no longer queued. */
  remove({ event, sizeBytes }: QueuedEvent): boolean {
    const isHere = this.#events.delete(event.eventId);
    if (isHere) this.#sizeBytes -= sizeBytes;
    return isHere;
  }

  /**
   * The oldest events in one of `states` that fit into one request. An event that exceeds the limit
   * is sent alone, so that the service rejects it.
   */
  batch(states: readonly EventState[], maxBytes = batchBounds.sizeBytes): QueuedEvent[] {
    const batch: QueuedEvent[] = [];
    let sizeBytes = 0;
    for (const queued of this.#events.values()) {
      if (!states.includes(queued.state)) continue;
      sizeBytes += queued.sizeBytes;
      const fits = sizeBytes <= maxBytes && batch.length < batchBounds.events;
      if (!fits && batch.length > 0) break;
      batch.push(queued);
    }
    return batch;
  }

  /** Total size in bytes of the events in one of `states`. */
  bytesIn(states: readonly EventState[]): number {
    return sizeOf(Array.from(this.#events.values()).filter(({ state }) => states.includes(state)));
  }

  countIn(state: EventState): number {
    let count = 0;
    for (const queued of this.#events.values()) if (queued.state === state) count += 1;
    return count;
  }

  /** Moves all events from one state to another. */
  moveAll(from: EventState, to: EventState): void {
    for (const queued of this.#events.values()) if (queued.state === from) queued.state = to;
  }

  /** Removes and returns all events. */
  clear(): QueuedEvent[] {
    const given = Array.from(this.#events.values());
    this.#events.clear();
    this.#sizeBytes = 0;
    return given;
  }

  /** The queue as text, for the storage. */
  toText(): string {
    return Array.from(this.#events.values(), ({ json }) => json).join('\n');
  }

  /**
   * Drops the oldest waiting events. Events in flight may already be stored and will soon be
   * acknowledged.
   */
  #makeRoom(): QueuedEvent[] {
    const given: QueuedEvent[] = [];
    while (this.#events.size > this.#bounds.events || this.#sizeBytes > this.#bounds.sizeBytes) {
      const oldest = this.#oldestWaiting();
      if (oldest === null) break;
      this.remove(oldest);
      given.push(oldest);
    }
    return given;
  }

  #oldestWaiting(): QueuedEvent | null {
    for (const queued of this.#events.values()) if (queued.state === 'waiting') return queued;
    return null;
  }
}

export function sizeOf(events: readonly QueuedEvent[]): number {
  return events.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

/** The body of a request that is sent now. */
export function batchJson(batch: readonly QueuedEvent[]): string {
  const sentAt = new Date().toISOString();
  return `{"sentAt":"${sentAt}","events":[${batch.map(({ json }) => json).join(',')}]}`;
}
