import {
  type EngagementEvent,
  type FeedItem,
  type FeedPage,
  type FeedQuery,
  ReelfeedError,
} from '@reelfeed/client';
import {
  FeedList,
  type PlaybackFailure,
  type Sample,
  type Slide,
  slidesOf,
  Viewing,
  webAddress,
} from '@reelfeed/client/playing';
import { type Connection } from './connection.ts';

export type FeedOptions = Pick<FeedQuery, 'tags' | 'section' | 'author' | 'country'> & {
  /** Id of the first item, which may be unlisted; the feed follows. */
  readonly start?: string | undefined;
  /** The viewer's route to `start`. Default: `share`. */
  readonly entryPoint?: 'share' | 'direct' | undefined;
  /** Called for each engagement event. */
  readonly onEvent?: ((event: EngagementEvent) => void) | undefined;
};

/** An immutable snapshot of a feed's state. */
export type FeedState = {
  readonly slides: readonly Slide[];
  /** `waiting` retries automatically; after `refused`, only `retry` does. */
  readonly phase: 'loading' | 'idle' | 'ended' | 'waiting' | 'refused';
  /** Null unless the phase is `waiting` or `refused`. */
  readonly error: ReelfeedError | null;
  readonly isRefreshing: boolean;
};

export const firstState: FeedState = {
  slides: [],
  phase: 'loading',
  error: null,
  isRefreshing: false,
};

const pageSize = 10;
/** The maximum that the service returns at once. */
const recalledItems = 100;

/** Addresses of an item's protected media. */
export type MediaAddresses = {
  readonly streamingUrl: string | null;
  readonly images: readonly { readonly id: string; readonly imageUrl: string }[];
};

/**
 * One viewer's feed: its slides, what is watched, and the viewer's actions, independent of
 * rendering. The views report the current slide and its player's state.
 */
export class FeedModel {
  readonly #connection: Connection;
  readonly #options: FeedOptions;
  readonly #list: FeedList;
  readonly #viewing: Viewing;
  readonly #listeners = new Set<() => void>();
  readonly #broken = new Set<string>();
  #startIds: readonly string[] = [];
  #state: FeedState = firstState;
  #isRefreshing = false;
  #index = 0;
  /** Whether the app is in the foreground. Otherwise nothing counts as watched or is reported. */
  #isActive = true;

  constructor(connection: Connection, options: FeedOptions = {}) {
    this.#connection = connection;
    this.#options = options;
    this.#viewing = new Viewing((event) => {
      connection.track(event);
      options.onEvent?.(event);
    });
    this.#list = new FeedList(
      (cursor, signal) => this.#readPage(cursor, signal),
      () => this.#onList(),
      ({ id }, error) => this.#onBroken(id, error),
    );
  }

  get state(): FeedState {
    return this.#state;
  }

  /** Subscribes to changes of `state`, likes and saves. Returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Loads the feed from its beginning. */
  async open(): Promise<void> {
    const { start } = this.#options;
    this.#startIds = [];
    await this.#list.restart(start === undefined ? null : this.#readStart(start));
  }

  /** Reloads the feed. The current slides stay until the new ones arrive. */
  async refresh(): Promise<void> {
    this.#viewing.pause();
    this.#isRefreshing = true;
    this.#index = 0;
    await this.#list.restart();
  }

  /** Retries a failed page now. */
  retry(): Promise<void> {
    return this.#list.retry();
  }

  /** Makes the slide at `index` current. */
  show(index: number): void {
    if (this.#isRefreshing) return;
    const isSwipe = index !== this.#index;
    this.#index = index;
    this.#watch(isSwipe);
    void this.#list.need(index);
  }

  /** Call when the app or the feed becomes visible or hidden. */
  setActive(isActive: boolean): void {
    if (isActive === this.#isActive) return;
    this.#isActive = isActive;
    if (isActive) this.#watch(false);
    else this.#viewing.pause();
  }

  /** Call several times per second with the state of the current slide's player. */
  measure(slide: Slide, sample: Sample): void {
    if (this.#isWatched(slide)) this.#viewing.measure(sample);
  }

  /** Reports that the current clip could not be played. */
  fail(slide: Slide, failure: PlaybackFailure): void {
    if (this.#isWatched(slide)) this.#viewing.fail(failure);
  }

  /** The share link: the service's page for the item. */
  addressOf({ item }: Slide): string {
    return `${this.#connection.baseUrl}feed#${encodeURIComponent(item.id)}`;
  }

  /**
   * Current addresses of a protected slide's media.
   * @throws {ReelfeedError} if access is denied
   */
  mediaOf({ id }: Slide): Promise<MediaAddresses> {
    return this.#connection.client.playbackToken(id);
  }

  isLiked({ item }: Slide): boolean {
    return this.#connection.likes.has(item.id);
  }

  likesOf({ item }: Slide): number {
    return this.#connection.likes.countOf(item);
  }

  isSaved({ item }: Slide): boolean {
    return this.#connection.saves.has(item.id);
  }

  /** Toggles the like of an item. Returns whether it is liked now. */
  toggleLike({ item }: Slide): boolean {
    const isLiked = this.#connection.likes.toggle(item);
    this.#viewing.like(item, isLiked);
    this.#changed();
    return isLiked;
  }

  toggleSave({ item }: Slide): boolean {
    const isSaved = this.#connection.saves.toggle(item);
    this.#viewing.save(item, isSaved);
    this.#changed();
    return isSaved;
  }

  /** Reports that the viewer shared the item through the device's share sheet. */
  noteShare({ id }: Slide): void {
    this.#viewing.share(id, 'device');
  }

  /** Reports that the viewer wants less of the item, its author or its tags, or undoes that. */
  refuse({ item }: Slide, scope: 'item' | 'author' | 'tag', isSet = true): void {
    this.#viewing.refuse(item, scope, isSet);
  }

  report({ item }: Slide, reason: string, isSet = true): void {
    this.#viewing.report(item, reason, isSet);
  }

  /** Stops everything, after reporting what was watched. */
  close(): void {
    this.#viewing.pause();
    this.#list.stop();
    this.#listeners.clear();
  }

  async #readPage(cursor: string | null, signal: AbortSignal): Promise<FeedPage> {
    const { tags, section, author, country } = this.#options;
    const { client, sessionId } = this.#connection;
    const query = { tags, section, author, country, sessionId, cursor, signal };
    const page = await client.feed({ ...query, limit: pageSize });
    this.#viewing.noteFeed(page.feedId);
    void this.#recall(page.items);
    return page;
  }

  /** Returns null if the item is not accessible: the feed plays anyway. */
  async #readStart(id: string): Promise<FeedItem | null> {
    try {
      const item = await this.#connection.client.item(id);
      this.#startIds = slidesOf(item, () => {}).map((slide) => slide.id);
      void this.#recall([item]);
      return item;
    } catch (error) {
      if (error instanceof ReelfeedError) return null;
      throw error;
    }
  }

  /**
   * Loads a signed user's likes from all devices. Without a response, this device's own data is
   * kept.
   */
  async #recall(items: readonly FeedItem[]): Promise<void> {
    const { client, likes, saves, isSigned } = this.#connection;
    const slides = items.flatMap((item) => slidesOf(item, () => {}));
    const ids = slides.map(({ id }) => id).slice(0, recalledItems);
    if (!isSigned || ids.length === 0) return;
    try {
      const known = await client.reactions(ids);
      likes.take(ids, known.likes);
      saves.take(ids, known.saves);
      this.#changed();
    } catch (error) {
      if (!(error instanceof ReelfeedError)) throw error;
    }
  }

  #onList(): void {
    const { phase, slides } = this.#list;
    const isPending = phase.name === 'loading' || phase.name === 'waiting';
    if (!isPending || slides.length > 0) this.#isRefreshing = false;
    this.#state = {
      slides: this.#isRefreshing ? this.#state.slides : slides,
      phase: phase.name,
      error: 'error' in phase ? phase.error : null,
      isRefreshing: this.#isRefreshing,
    };
    this.#index = Math.min(this.#index, Math.max(0, this.#state.slides.length - 1));
    this.#notify();
    this.#watch(false);
  }

  #isWatched({ id }: Slide): boolean {
    const { slides, isRefreshing } = this.#state;
    return this.#isActive && !isRefreshing && slides[this.#index]?.id === id;
  }

  #watch(isSwipe: boolean): void {
    if (!this.#isActive || this.#isRefreshing) return;
    const slide = this.#state.slides[this.#index] ?? null;
    const { entryPoint = 'share' } = this.#options;
    const isStart = slide !== null && this.#startIds.includes(slide.id);
    const position = this.#index;
    this.#viewing.show(slide, { position, entryPoint: isStart ? entryPoint : 'feed', isSwipe });
  }

  /**
   * Handles an item without displayable media: reported like a clip that does not play; other
   * slides are unaffected.
   */
  #onBroken(id: string, error: unknown): void {
    if (this.#broken.has(id)) return;
    this.#broken.add(id);
    this.#viewing.failAhead(id, failureOf(error));
  }

  #changed(): void {
    this.#state = { ...this.#state };
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Converts a thrown value to the text of an error event. */
export function failureOf(error: unknown): PlaybackFailure {
  if (!(error instanceof Error)) return { code: 'UNKNOWN', message: 'The clip cannot be played.' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return { code, message: error.message };
}

/** The playback address of a slide, if it needs no permission. */
export function openAddressOf({ media }: Slide): string | null {
  return media.kind === 'video' ? webAddress(media.url) : null;
}
