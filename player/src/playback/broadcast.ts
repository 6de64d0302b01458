import { type FeedItem, ReelfeedError } from '@reelfeed/client';

type BroadcastEvents = {
  /** Reads the item. Rejects while it cannot be watched. */
  read(id: string, signal: AbortSignal): Promise<FeedItem>;
  /** Called with the current item of the broadcast. */
  changed(item: FeedItem): void;
  /** Called if the item is no longer available to viewers. */
  gone(id: string): void;
};

const viewersEveryMs = 30_000;
/** A short broadcast has its recording within seconds. */
const recordingEveryMs = 3_000;
const beginningEveryMs = 3_000;

/**
 * Follows the broadcast being watched: its start, its number of viewers, and then its recording.
 */
export class Broadcast {
  readonly #events: BroadcastEvents;
  #id: string | null = null;
  #everyMs = 0;
  #stopping = new AbortController();

  constructor(events: BroadcastEvents) {
    this.#events = events;
  }

  /** Follows a broadcast, which may not have started yet, or none. */
  follow(id: string | null, isAwaited: boolean): void {
    const everyMs = isAwaited ? beginningEveryMs : viewersEveryMs;
    if (id === this.#id && everyMs === this.#everyMs) return;
    this.#id = id;
    this.#everyMs = everyMs;
    this.#start(everyMs);
  }

  /** Must be called when the broadcast has ended, because its recording will follow soon. */
  awaitRecording(): void {
    this.#start(recordingEveryMs);
  }

  #start(everyMs: number): void {
    this.#stopping.abort();
    const stopping = new AbortController();
    this.#stopping = stopping;
    const id = this.#id;
    if (id === null) return;
    const timer = setInterval(() => {
      this.#events.read(id, stopping.signal).then(
        (item) => {
          if (!stopping.signal.aborted) this.#events.changed(item);
        },
        (error: unknown) => {
          const isGone = error instanceof ReelfeedError && error.status === 404;
          if (isGone && !stopping.signal.aborted) this.#events.gone(id);
        },
      );
    }, everyMs);
    stopping.signal.addEventListener('abort', () => clearInterval(timer));
  }
}
