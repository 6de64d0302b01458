import { type FeedItem, ReelfeedError } from '@reelfeed/client';

type BroadcastEvents = {
  /** Reads the item. Rejects while it cannot be watched. */
  read(id: string, signal: AbortSignal): Promise<FeedItem>;
  /** The item of the broadcast as it is now. */
  changed(item: FeedItem): void;
  /** There is no such item for viewers now. */
  gone(id: string): void;
};

const viewersEveryMs = 30_000;
/** A short broadcast has its recording within seconds. */
const recordingEveryMs = 3_000;
const beginningEveryMs = 3_000;

/**
 * Follows the broadcast that is watched: its beginning, how many watch it, and its recording when there
 * is one.
 */
export class Broadcast {
  readonly #events: BroadcastEvents;
  #id: string | null = null;
  #everyMs = 0;
  #stopping = new AbortController();

  constructor(events: BroadcastEvents) {
    this.#events = events;
  }

  /** Follows one, whose beginning may be awaited; null: none. */
  follow(id: string | null, isAwaited: boolean): void {
    const everyMs = isAwaited ? beginningEveryMs : viewersEveryMs;
    if (id === this.#id && everyMs === this.#everyMs) return;
    this.#id = id;
    this.#everyMs = everyMs;
    this.#start(everyMs);
  }

  /** It is over: the recording comes soon. */
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
