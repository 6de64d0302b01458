import { type TrackedEvent } from './events.ts';

/** How far an event has come; see event-sender.ts. */
export type EventState = 'waiting' | 'sending' | 'parting' | 'beaconed';

export type QueuedEvent = {
  readonly event: TrackedEvent;
  readonly json: string;
  readonly sizeBytes: number;
  /** In order of being added. */
  readonly sequence: number;
  /** By the monotonic clock. */
  readonly addedAtMs: number;
  state: EventState;
};

export type QueueBounds = {
  readonly events: number;
  readonly sizeBytes: number;
};

/** Bounds of one request. A browser sends at most 64 KiB from a page that ends. */
export const batchBounds: QueueBounds = { events: 100, sizeBytes: 60_000 };

const encoder = new TextEncoder();

/** Events without an answer, in the order in which they came, within bounds. */
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

  /** The sequence of the event that was added last. */
  get lastSequence(): number {
    return this.#added;
  }

  /** The sequence of the oldest event that is here; null when there is none. */
  get firstSequence(): number | null {
    for (const { sequence } of this.#events.values()) return sequence;
    return null;
  }

  /**
   * Adds an event, once.
   *
   * @param json the event as text
   * @returns those that were given up to make room, the oldest first
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
      // The place in the order stays.
      this.#events.set(eventId, { ...queued, event, json, sizeBytes });
    }
  }

  /** False when it is not here any more. */
  remove({ event, sizeBytes }: QueuedEvent): boolean {
    const isHere = this.#events.delete(event.eventId);
    if (isHere) this.#sizeBytes -= sizeBytes;
    return isHere;
  }

  /**
   * The oldest events in one of `states` that fit one request. One that fits none goes alone, so
   * that the service refuses it.
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

  /** How many bytes the events in one of `states` have. */
  bytesIn(states: readonly EventState[]): number {
    return sizeOf(Array.from(this.#events.values()).filter(({ state }) => states.includes(state)));
  }

  countIn(state: EventState): number {
    let count = 0;
    for (const queued of this.#events.values()) if (queued.state === state) count += 1;
    return count;
  }

  /** Moves all events in one state to another. */
  moveAll(from: EventState, to: EventState): void {
    for (const queued of this.#events.values()) if (queued.state === from) queued.state = to;
  }

  /** Gives up all. */
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

  /** Gives up the oldest that wait. What is under way may be stored already, and has its answer soon. */
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
