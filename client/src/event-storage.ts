import { isRecord } from './errors.ts';
import { type TrackedEvent } from './events.ts';
import { newUuid7 } from './uuid7.ts';

/**
 * Stores events beyond the lifetime of a page or process. Both calls are synchronous, because a
 * closing page does not wait. The text has one JSON event per line.
 */
export type EventStorage = {
  /** The last saved text, or null if there is none. Called once. */
  load(): string | null;
  /** Replaces the stored text. An empty text means that no events are waiting. */
  save(text: string): void;
};

const saveDelayMs = 1_000;

/**
 * Stores events in a browser's localStorage. Each sender has its own entry, so that concurrently
 * open pages don't overwrite each other, and a new sender takes over the entries it finds. Events
 * of a page that is still open may therefore be sent twice; they count once.
 */
export function localEventStorage(name = 'reelfeed.events'): EventStorage {
  const ownPlace = `${name}.${newUuid7()}`;
  return {
    load() {
      const places = Object.keys(localStorage).filter((place) => place.startsWith(`${name}.`));
      const text = places.map((place) => localStorage.getItem(place) ?? '').join('\n');
      // Removed first, because the storage may not have room for both.
      for (const place of places) localStorage.removeItem(place);
      if (text !== '') localStorage.setItem(ownPlace, text);
      return text === '' ? null : text;
    },
    save(text) {
      if (text === '') localStorage.removeItem(ownPlace);
      else localStorage.setItem(ownPlace, text);
    },
  };
}

/** Saves waiting events soon after a change, but not on every change. */
export class EventKeeper {
  readonly #storage: EventStorage | undefined;
  readonly #textOf: () => string;
  readonly #failed: (error: unknown) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Does nothing without storage. Calls `failed` if the storage is full or not permitted. */
  constructor(
    storage: EventStorage | undefined,
    textOf: () => string,
    failed: (error: unknown) => void,
  ) {
    this.#storage = storage;
    this.#textOf = textOf;
    this.#failed = failed;
  }

  load(): TrackedEvent[] {
    try {
      return readStoredEvents(this.#storage?.load() ?? '');
    } catch (error) {
      this.#failed(error);
      return [];
    }
  }

  saveSoon(): void {
    if (this.#storage !== undefined) this.#timer ??= setTimeout(() => this.save(), saveDelayMs);
  }

  save(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      this.#storage?.save(this.#textOf());
    } catch (error) {
      this.#failed(error);
    }
  }
}

/** Skips lines that are not events, such as truncated ones. */
function readStoredEvents(text: string): TrackedEvent[] {
  return text.split('\n').flatMap((line) => {
    const event = parseLine(line);
    return isStoredEvent(event) ? [event] : [];
  });
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** The service validates the rest; an event without its id would count twice. */
function isStoredEvent(value: unknown): value is TrackedEvent {
  return isRecord(value) && typeof value['eventId'] === 'string' && value['eventId'] !== '';
}
