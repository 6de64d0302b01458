import { isRecord } from './errors.ts';
import { type TrackedEvent } from './events.ts';
import { newUuid7 } from './uuid7.ts';

/**
 * Where events outlive the page or the process. Both calls are synchronous, because a page that is
 * being closed does not wait. The text is one event of JSON a line.
 */
export type EventStorage = {
  /** What was saved last; null when there is nothing. Called once. */
  load(): string | null;
  /** Replaces the stored text. Empty text means that nothing waits. */
  save(text: string): void;
};

const saveDelayMs = 1_000;

/**
 * Events in a browser's localStorage. Each sender has a place of its own there, so that pages open
 * at the same time don't overwrite each other, and a new one takes over what it finds. What a page
 * that is still open has kept may so be sent by both; it counts once.
 */
export function localEventStorage(name = 'reelfeed.events'): EventStorage {
  const ownPlace = `${name}.${newUuid7()}`;
  return {
    load() {
      const places = Object.keys(localStorage).filter((place) => place.startsWith(`${name}.`));
      const text = places.map((place) => localStorage.getItem(place) ?? '').join('\n');
      // Removed first: the storage may have no room for both.
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

/** Writes what waits into a storage, soon after each change and not at every one. */
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

/** Lines that hold no event, such as half of one, are left out. */
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

/** The service checks the rest; an event without its id would count twice. */
function isStoredEvent(value: unknown): value is TrackedEvent {
  return isRecord(value) && typeof value['eventId'] === 'string' && value['eventId'] !== '';
}
