import { type FeedItem } from '@reelfeed/client';

type BroadcastEvents = {
  /** Reads the item. Rejects while it cannot be watched. */
  read(id: string, signal: AbortSignal): Promise<FeedItem>;
  /** The item of the broadcast as it is now. */
  changed(item: FeedItem): void;
};

const viewersEveryMs = 30_000;
/** A short broadcast has its recording within seconds. */
const recordingEveryMs = 3_000;

/** Follows the broadcast that is watched: how many watch it, and its recording when there is one. */
export class Broadcast {
  readonly #events: BroadcastEvents;
  #id: string | null = null;
  #stopping = new AbortController();

  constructor(events: BroadcastEvents) {
    this.#events = events;
  }

  /** Follows one; null: none. */
  follow(id: string | null): void {
    if (id === this.#id) return;
    this.#id = id;
    this.#start(viewersEveryMs);
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
        // The item is away until its recording was processed.
        () => undefined,
      );
    }, everyMs);
    stopping.signal.addEventListener('abort', () => clearInterval(timer));
  }
}
