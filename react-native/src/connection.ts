import {
  createReelfeed,
  EventSender,
  type CustomEngagementEvent,
  type EngagementEvent,
  type EventCounts,
  type EventSenderOptions,
  type Reelfeed,
} from '@reelfeed/client';
import { Marks, newUuid7, type Store } from '@reelfeed/client/playing';
import { readKeptTexts, type AppStorage, type KeptTexts } from './app-storage.ts';

export type ConnectionOptions = Pick<
  EventSenderOptions,
  | 'baseUrl'
  | 'publishableKey'
  | 'userId'
  | 'userSignature'
  | 'appVersion'
  | 'batchSize'
  | 'batchInterval'
  | 'onRefused'
  | 'onDropped'
  | 'onStorageError'
> & {
  /** Keeps events, the device's id and likes for the next start, such as `AsyncStorage`. */
  readonly storage?: AppStorage | undefined;
  readonly device: 'ios' | 'android' | 'web' | undefined;
};

type Viewer = { readonly userId?: string | undefined; readonly userSignature?: string | undefined };

/** The client, the event sender and what is kept of a viewer, for one service and key. */
export class Connection {
  readonly sessionId = newUuid7();
  readonly #options: ConnectionOptions;
  readonly #kept: KeptTexts;
  readonly #events: EventSender;
  #viewer: Viewer;
  #client: Reelfeed;
  #marks: { readonly likes: Marks; readonly saves: Marks };

  /** Throws `TypeError` for unusable options. Apps use `openConnection`. */
  constructor(options: ConnectionOptions, kept: KeptTexts) {
    this.#options = options;
    this.#kept = kept;
    const { storage: _storage, ...sending } = options;
    this.#events = new EventSender({
      ...sending,
      deviceId: kept.deviceId,
      sessionId: this.sessionId,
      storage: kept.events,
    });
    this.#viewer = options;
    this.#client = this.#makeClient();
    this.#marks = this.#makeMarks();
  }

  /** Where the service answers; ends with a slash. */
  get baseUrl(): string {
    const address = String(this.#options.baseUrl);
    return address.endsWith('/') ? address : `${address}/`;
  }

  get client(): Reelfeed {
    return this.#client;
  }

  get likes(): Marks {
    return this.#marks.likes;
  }

  get saves(): Marks {
    return this.#marks.saves;
  }

  get store(): Store {
    return this.#kept.store;
  }

  /** Delivery counts of all events so far, including those of earlier starts. */
  get counts(): EventCounts {
    return this.#events.counts;
  }

  /** The service tells what a user likes on all devices only if the user is signed. */
  get isSigned(): boolean {
    return this.#viewer.userId !== undefined && this.#viewer.userSignature !== undefined;
  }

  /** Takes an event for sending, which happened now. @returns its id */
  track(event: EngagementEvent | CustomEngagementEvent): string {
    return this.#events.track(event);
  }

  /** The viewer has logged in, or out with null. Feeds that are read afterwards are this viewer's. */
  identify(userId: string | null, userSignature?: string): void {
    if (this.#viewer.userId === (userId ?? undefined)) {
      if (this.#viewer.userSignature === userSignature) return;
    }
    this.#viewer = { userId: userId ?? undefined, userSignature };
    this.#events.identify(userId, userSignature);
    this.#client = this.#makeClient();
    this.#marks = this.#makeMarks();
  }

  /** Sends what waits; see `EventSender.flush`. */
  flush(signal?: AbortSignal): Promise<void> {
    return this.#events.flush(signal);
  }

  /** The app goes to the background, where it may end at any moment: keeps what has no answer. */
  save(): Promise<void> {
    this.#events.save();
    return this.#kept.settled();
  }

  /** Sends what waits once more, and keeps what has no answer then. Later events are dropped. */
  async close(): Promise<void> {
    await this.#events.close();
    await this.#kept.settled();
  }

  #makeClient(): Reelfeed {
    const { baseUrl, publishableKey, device } = this.#options;
    const { userId, userSignature } = this.#viewer;
    const { deviceId } = this.#kept;
    return createReelfeed({
      baseUrl,
      publishableKey,
      device,
      deviceId,
      userId,
      userSignature,
    });
  }

  #makeMarks(): { readonly likes: Marks; readonly saves: Marks } {
    const user = this.#viewer.userId ?? null;
    const { store } = this.#kept;
    return { likes: new Marks(store, 'likes', user), saves: new Marks(store, 'saves', user) };
  }
}

/** Reads what is kept and connects. Throws `TypeError` for unusable options. */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const failed = (error: unknown): void => options.onStorageError?.(error);
  return new Connection(options, await readKeptTexts(options.storage, failed));
}
