import { type EventStorage } from '@reelfeed/client';
import { newUuid7, type Store } from '@reelfeed/client/playing';

/** The app's storage for texts, such as `AsyncStorage`. */
export type AppStorage = {
  getItem(name: string): Promise<string | null>;
  setItem(name: string, value: string): Promise<unknown>;
  removeItem(name: string): Promise<unknown>;
};

/**
 * An in-memory copy of the device's storage. Read once, because the client needs synchronous
 * access.
 */
export type KeptTexts = {
  readonly deviceId: string;
  readonly events: EventStorage;
  readonly store: Store;
  /** Resolves when everything saved so far is in the app's storage or has failed. */
  settled(): Promise<void>;
};

const prefix = 'reelfeed.';
const deviceName = `${prefix}device`;
const eventsName = `${prefix}events`;
const storeName = `${prefix}viewer`;

/**
 * Reads the app's storage. Never rejects: if there is no storage or it fails, data lasts only while
 * the app runs.
 * @param failed called for each storage failure
 */
export async function readKeptTexts(
  storage: AppStorage | undefined,
  failed: (error: unknown) => void,
): Promise<KeptTexts> {
  const read = async (name: string): Promise<string | null> => {
    try {
      return (await storage?.getItem(name)) ?? null;
    } catch (error) {
      failed(error);
      return null;
    }
  };
  const [device, events, viewer] = await Promise.all([
    read(deviceName),
    read(eventsName),
    read(storeName),
  ]);
  const writer = new LatestWriter(storage, failed);
  const deviceId = device !== null && /^[\w-]{1,256}$/.test(device) ? device : newUuid7();
  if (deviceId !== device) writer.write(deviceName, deviceId);
  return {
    deviceId,
    events: { load: () => events, save: (text) => writer.write(eventsName, text) },
    store: storeOver(viewer, (text) => writer.write(storeName, text)),
    settled: () => writer.settled(),
  };
}

/** Small texts in memory, stored together as one JSON object. */
function storeOver(text: string | null, save: (text: string) => void): Store {
  const values = new Map(entriesIn(text));
  const changed = (): void => save(JSON.stringify(Object.fromEntries(values)));
  return {
    read: (name) => values.get(name) ?? null,
    write(name, value) {
      if (values.get(name) === value) return;
      values.set(name, value);
      changed();
    },
    remove(name) {
      if (values.delete(name)) changed();
    },
  };
}

function entriesIn(text: string | null): [string, string][] {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
  } catch {
    return [];
  }
}

/** Writes texts sequentially. If several are pending for one name, only the last is written. */
class LatestWriter {
  readonly #storage: AppStorage | undefined;
  readonly #failed: (error: unknown) => void;
  readonly #waiting = new Map<string, string>();
  #writing: Promise<void> | null = null;

  constructor(storage: AppStorage | undefined, failed: (error: unknown) => void) {
    this.#storage = storage;
    this.#failed = failed;
  }

  /** An empty text removes the entry. */
  write(name: string, text: string): void {
    if (this.#storage === undefined) return;
    this.#waiting.set(name, text);
    this.#writing ??= this.#writeAll(this.#storage).catch(this.#failed);
  }

  async settled(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(storage: AppStorage): Promise<void> {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined) break;
      const [name, text] = next;
      this.#waiting.delete(name);
      try {
        await (text === '' ? storage.removeItem(name) : storage.setItem(name, text));
      } catch (error) {
        this.#failed(error);
      }
    }
    this.#writing = null;
  }
}
