import { ReelfeedError } from '../errors.ts';
import { type FeedItem, type FeedPage } from '../types.ts';
import { slidesOf, type OnBroken, type Slide } from './slides.ts';

/**
 * The list of slides, and the loading of its pages.
 *
 *   idle ──need, start──▶ loading ──page, more to come──▶ idle
 *                         loading ──last page──▶ ended
 *                         loading ──no response, 429, 5xx──▶ waiting ──pause, retry──▶ loading
 *                         loading ──any other rejection──▶ refused
 *   any ──restart──▶ loading
 *
 * 1. At most one page is being read.
 * 2. An id is in the list at most once.
 * 3. Slides keep their order; new ones are only added at the end.
 * 4. The linked item comes first, no matter how long it takes to load; pages wait for it.
 */
export type FeedPhase =
  | { readonly name: 'idle' | 'loading' | 'ended' }
  | { readonly name: 'waiting' | 'refused'; readonly error: ReelfeedError };

/** The next page is read when at most this many slides are left. */
const slidesAhead = 5;
const firstPauseMs = 2000;
const longestPauseMs = 30_000;
/** The feed counts as ended after this many consecutive pages without anything new. */
const barrenPages = 5;
/** Number of ids that are remembered to skip repeats. */
const rememberedIds = 5000;

export type ReadPage = (cursor: string | null, signal: AbortSignal) => Promise<FeedPage>;

export class FeedList {
  readonly #readPage: ReadPage;
  readonly #changed: () => void;
  readonly #onBroken: OnBroken;
  readonly #announces: boolean;
  #slides: Slide[] = [];
  #phase: FeedPhase = { name: 'idle' };
  #known = new Set<string>();
  #cursor: string | null = null;
  #droppedCount = 0;
  #failures = 0;
  #barren = 0;
  #reading = new AbortController();
  /** Settles once the item named by a link is in the list or has failed. */
  #linked: Promise<void> = Promise.resolve();
  #restarts = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param announces whether live streams that have not begun are shown as announcements */
  constructor(readPage: ReadPage, changed: () => void, onBroken: OnBroken, announces = false) {
    this.#readPage = readPage;
    this.#changed = changed;
    this.#onBroken = onBroken;
    this.#announces = announces;
  }

  get slides(): readonly Slide[] {
    return this.#slides;
  }

  /** Number of slides dropped from the start of the list. */
  get droppedCount(): number {
    return this.#droppedCount;
  }

  get phase(): FeedPhase {
    return this.#phase;
  }

  /** Reads the next page if the slide at `index` is near the end of the list. */
  async need(index: number): Promise<void> {
    if (this.#phase.name !== 'idle' || this.#slides.length - 1 - index > slidesAhead) return;
    await this.#load();
  }

  /** Retries a failed page now, such as when the network is back. */
  async retry(): Promise<void> {
    if (this.#phase.name === 'waiting' || this.#phase.name === 'refused') await this.#load();
  }

  /**
   * Clears the list and reads the feed again. `linked` is the item to start with, or null if it
   * can't be shown; it is shown as soon as it arrives. Never rejects.
   */
  async restart(linked: Promise<FeedItem | null> | null = null): Promise<void> {
    this.stop();
    this.#slides = [];
    this.#known.clear();
    this.#cursor = null;
    this.#droppedCount = 0;
    this.#failures = 0;
    this.#barren = 0;
    const placed = linked === null ? Promise.resolve() : this.#placeFirst(linked, this.#restarts);
    // `#load` awaits it after the page, and reports its failure.
    placed.catch(() => undefined);
    this.#linked = placed;
    await this.#load();
  }

  async #placeFirst(reading: Promise<FeedItem | null>, restart: number): Promise<void> {
    const item = await reading;
    if (item === null || restart !== this.#restarts) return;
    this.#slides = this.#slidesOf(item).filter((slide) => this.#remember(slide.id));
    this.#changed();
  }

  /** Aborts all reading and waiting; nothing changes afterwards. */
  stop(): void {
    this.#reading.abort();
    this.#restarts += 1;
    clearTimeout(this.#timer);
    this.#phase = { name: 'idle' };
  }

  /** Removes a slide that cannot be played. */
  remove(id: string): void {
    this.#slides = this.#slides.filter((slide) => slide.id !== id);
    this.#changed();
  }

  /** Updates an item in place. Returns false if nothing of it can be shown yet. */
  replace(item: FeedItem): boolean {
    const [slide] = this.#slidesOf(item);
    if (slide === undefined) return false;
    this.#slides = this.#slides.map((known) => (known.id === slide.id ? slide : known));
    this.#changed();
    return true;
  }

  /** Drops the oldest slides of a long session. The caller adjusts its own position. */
  dropFirst(count: number): void {
    this.#slides = this.#slides.slice(count);
    this.#droppedCount += count;
  }

  async #load(): Promise<void> {
    clearTimeout(this.#timer);
    this.#reading.abort();
    const reading = new AbortController();
    this.#reading = reading;
    this.#enter({ name: 'loading' });
    try {
      const page = await this.#readPage(this.#cursor, reading.signal);
      await this.#linked;
      if (!reading.signal.aborted) this.#take(page);
    } catch (error) {
      if (!reading.signal.aborted) this.#fail(error);
    }
  }

  #take(page: FeedPage): void {
    this.#failures = 0;
    const slides = page.items.flatMap((item) => this.#slidesOf(item));
    const fresh = slides.filter((slide) => this.#remember(slide.id));
    this.#slides = [...this.#slides, ...fresh];
    this.#barren = fresh.length > 0 ? 0 : this.#barren + 1;
    const isLast = !page.hasMore || page.nextCursor === null || this.#barren >= barrenPages;
    this.#cursor = page.nextCursor;
    this.#enter({ name: isLast ? 'ended' : 'idle' });
  }

  #fail(error: unknown): void {
    // Anything but the client's own error is a bug in this page and must reach the console.
    if (!(error instanceof ReelfeedError)) throw error;
    if (error.code === 'INVALID_CURSOR' && this.#cursor !== null) {
      // The service no longer knows the order, so start a new one, without the items already shown.
      this.#cursor = null;
      this.#wait(error, 0);
      return;
    }
    const mayPass = error.isTransient || (error.status !== null && error.status >= 500);
    if (!mayPass) {
      this.#enter({ name: 'refused', error });
      return;
    }
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** this.#failures);
    this.#failures += 1;
    this.#wait(error, Math.max(pauseMs, error.retryAfterMs ?? 0));
  }

  #wait(error: ReelfeedError, pauseMs: number): void {
    this.#timer = setTimeout(() => void this.#load(), pauseMs);
    this.#enter({ name: 'waiting', error });
  }

  #enter(phase: FeedPhase): void {
    this.#phase = phase;
    this.#changed();
  }

  #slidesOf(item: FeedItem): Slide[] {
    return slidesOf(item, this.#onBroken, this.#announces);
  }

  /** Returns false if the id is already known. */
  #remember(id: string): boolean {
    if (this.#known.has(id)) return false;
    this.#known.add(id);
    const [oldest] = this.#known;
    if (this.#known.size > rememberedIds && oldest !== undefined) this.#known.delete(oldest);
    return true;
  }
}
