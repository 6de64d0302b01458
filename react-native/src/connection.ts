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
  /** Storage for events, the device id and likes across restarts, such as `AsyncStorage`. */
  readonly storage?: AppStorage | undefined;
  readonly device: 'ios' | 'android' | 'web' | undefined;
};

type Viewer = { readonly userId?: string | undefined; readonly userSignature?: string | undefined };

/** The client, the event sender and a viewer's stored data, for one service and key. */
export class Connection {
  readonly sessionId = newUuid7();
  readonly #options: ConnectionOptions;
  readonly #kept: KeptTexts;
  readonly #events: EventSender;
  #viewer: Viewer;
  #client: Reelfeed;
  #marks: { readonly likes: Marks; readonly saves: Marks };

  /** Throws `TypeError` for invalid options. Apps use `openConnection`. */
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

  /** The service's address, ending with a slash. */
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

  /** Delivery counts of all events so far, including those from earlier runs. */
  get counts(): EventCounts {
    return this.#events.counts;
  }

  /** The service returns a user's likes from all devices only if the user id is signed. */
  get isSigned(): boolean {
    return this.#viewer.userId !== undefined && this.#viewer.userSignature !== undefined;
  }

  /** Queues an event that happened now. Returns its id. */
  track(event: EngagementEvent | CustomEngagementEvent): string {
    return this.#events.track(event);
  }

  /** Logs the viewer in, or out with null. Feeds read afterwards belong to this viewer. */
  identify(userId: string | null, userSignature?: string): void {
    if (this.#viewer.userId === (userId ?? undefined)) {
      if (this.#viewer.userSignature === userSignature) return;
    }
    this.#viewer = { userId: userId ?? undefined, userSignature };
    this.#events.identify(userId, userSignature);
    this.#client = this.#makeClient();
    this.#marks = this.#makeMarks();
  }

  /** Sends pending events; see `EventSender.flush`. */
  flush(signal?: AbortSignal): Promise<void> {
    return this.#events.flush(signal);
  }

  /**
   * Call when the app goes to the background, where it may be killed at any time: stores what is
   * unacknowledged.
   */
  save(): Promise<void> {
    this.#events.save();
    return this.#kept.settled();
  }

  /** Sends pending events and stores the unacknowledged ones. Later events are dropped. */
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

/** Reads stored data and connects. Throws `TypeError` for invalid options. */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const failed = (error: unknown): void => options.onStorageError?.(error);
  return new Connection(options, await readKeptTexts(options.storage, failed));
}
