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
  /** Id of the item to begin with, also an unlisted one; the feed follows. */
  readonly start?: string | undefined;
  /** How the viewer has come to `start`. Default `share`. */
  readonly entryPoint?: 'share' | 'direct' | undefined;
  /** Each engagement event as it happens. */
  readonly onEvent?: ((event: EngagementEvent) => void) | undefined;
};

/** The state of a feed at one moment. Each change makes a new object. */
export type FeedState = {
  readonly slides: readonly Slide[];
  /** `waiting` tries again by itself; after `refused` only `retry` does. */
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
/** As many as the service answers for at once. */
const recalledItems = 100;

/** Where protected media of an item are. */
export type MediaAddresses = {
  readonly streamingUrl: string | null;
  readonly images: readonly { readonly id: string; readonly imageUrl: string }[];
};

/**
 * One feed of one viewer: its slides, what is watched, and what the viewer does. It knows nothing of how
 * slides are drawn. The views say which slide is before the viewer and what its player shows.
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
  /** Whether the app is before the viewer. Otherwise nobody watches and nothing is told. */
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

  /** Calls back after each change of `state`, and of a like or save. @returns what ends that */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Reads the feed from its beginning. */
  async open(): Promise<void> {
    const { start } = this.#options;
    this.#startIds = [];
    await this.#list.restart(start === undefined ? null : this.#readStart(start));
  }

  /** Reads the feed again. The slides that are there stay until the new ones have come. */
  async refresh(): Promise<void> {
    this.#viewing.pause();
    this.#isRefreshing = true;
    this.#index = 0;
    await this.#list.restart();
  }

  /** Tries a page that failed again now. */
  retry(): Promise<void> {
    return this.#list.retry();
  }

  /** The slide at `index` is before the viewer. */
  show(index: number): void {
    if (this.#isRefreshing) return;
    const isSwipe = index !== this.#index;
    this.#index = index;
    this.#watch(isSwipe);
    void this.#list.need(index);
  }

  /** The app went to the background, or the feed out of sight; or it is back. */
  setActive(isActive: boolean): void {
    if (isActive === this.#isActive) return;
    this.#isActive = isActive;
    if (isActive) this.#watch(false);
    else this.#viewing.pause();
  }

  /** Called several times a second with what the player of the slide before the viewer shows. */
  measure(slide: Slide, sample: Sample): void {
    if (this.#isWatched(slide)) this.#viewing.measure(sample);
  }

  /** The clip before the viewer could not be played. */
  fail(slide: Slide, failure: PlaybackFailure): void {
    if (this.#isWatched(slide)) this.#viewing.fail(failure);
  }

  /** The link that the share button shares: the service's page with the item. */
  addressOf({ item }: Slide): string {
    return `${this.#connection.baseUrl}feed#${encodeURIComponent(item.id)}`;
  }

  /** Where the media of a protected slide are now. Throws `ReelfeedError` where that is not permitted. */
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

  /** Likes an item or takes the like back. @returns whether it is liked now */
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

  /** The viewer has shared the item by the device's share sheet. */
  noteShare({ id }: Slide): void {
    this.#viewing.share(id, 'device');
  }

  /** The viewer wants less of the item, its author or its tags; or takes that back. */
  refuse({ item }: Slide, scope: 'item' | 'author' | 'tag', isSet = true): void {
    this.#viewing.refuse(item, scope, isSet);
  }

  report({ item }: Slide, reason: string, isSet = true): void {
    this.#viewing.report(item, reason, isSet);
  }

  /** Ends what runs. What was watched is told. */
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

  /** Null where the item may not be watched or can't be read: the feed plays all the same. */
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

  /** Learns what a signed user likes on all devices. Without an answer, what this device knows stays. */
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

  /** Nothing can be shown of an item. It is told as a clip is that does not play; the others stay. */
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

/** The text of an error event for a thrown value. */
export function failureOf(error: unknown): PlaybackFailure {
  if (!(error instanceof Error)) return { code: 'UNKNOWN', message: 'The clip cannot be played.' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return { code, message: error.message };
}

/** The address that a slide plays from, if it needs no permission. */
export function openAddressOf({ media }: Slide): string | null {
  return media.kind === 'video' ? webAddress(media.url) : null;
}
