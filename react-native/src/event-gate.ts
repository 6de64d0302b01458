import { type CustomEngagementEvent, type EngagementEvent } from '@reelfeed/client';

type TrackableEvent = EngagementEvent | CustomEngagementEvent;

/** Beyond this, the oldest are dropped, as in the event sender. */
const maxWaiting = 1_000;

/** Queues events until the device's storage has been read, then hands them over. */
export class EventGate {
  #waiting: TrackableEvent[] = [];
  #track: ((event: TrackableEvent) => unknown) | null = null;

  track(event: TrackableEvent): void {
    if (this.#track !== null) {
      this.#track(event);
      return;
    }
    this.#waiting.push(event);
    if (this.#waiting.length > maxWaiting) this.#waiting.shift();
  }

  open(track: (event: TrackableEvent) => unknown): void {
    this.#track = track;
    for (const event of this.#waiting.splice(0)) track(event);
  }

  close(): void {
    this.#track = null;
  }
}
