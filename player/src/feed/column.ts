import { element, isRightToLeft } from '../page/dom.ts';
import { type ItemView } from '../slide/item-view.ts';
import { type Slide } from '@reelfeed/client/playing';

/** Number of slides on each side of the active one that have content; the rest are empty. */
const mountedEachSide = 2;
/** Without a scroll event for this long, the column is considered to be at rest. */
const settledMs = 160;

/** The direction of swipes. */
export type Axis = 'vertical' | 'horizontal';

export type ColumnEvents = {
  readonly axis: Axis;
  /** Nothing outside the column can have the focus, so the column may take it. */
  readonly ownsPage: boolean;
  /** Builds the content of a slide that is now near the active one. */
  makeView(article: HTMLElement, slide: Slide): ItemView;
  /** Called if a slide could not be built; its place stays empty. */
  broken(slide: Slide, error: unknown): void;
  /** Called when another slide fills most of the window. */
  moved(): void;
  /** Called when the column has come to rest. */
  settled(): void;
};

/**
 * The scrolling column: one article per slide, of which only those near the window have content.
 */
export class Column {
  readonly #root: HTMLElement;
  readonly #events: ColumnEvents;
  readonly #articles: HTMLElement[] = [];
  readonly #views = new Map<string, ItemView>();
  #slides: readonly Slide[] = [];
  #index = 0;
  #target: number | null = null;
  #tail: HTMLElement | null = null;
  #settleTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #resizes: ResizeObserver;

  constructor(root: HTMLElement, events: ColumnEvents) {
    this.#root = root;
    this.#events = events;
    root.addEventListener('scroll', () => this.#onScroll(), { passive: true });
    this.#resizes = new ResizeObserver(() => this.#onResize());
    this.#resizes.observe(root);
  }

  close(): void {
    clearTimeout(this.#settleTimer);
    this.#resizes.disconnect();
    for (const id of this.#views.keys()) this.#unmount(id);
  }

  /** The index of the active slide; equal to the number of slides at the tail. */
  get index(): number {
    return this.#index;
  }

  /** The slide `offset` places from the active one. */
  slideAt(offset: number): Slide | null {
    return this.#slides[this.#index + offset] ?? null;
  }

  view(id: string | undefined): ItemView | null {
    return id === undefined ? null : (this.#views.get(id) ?? null);
  }

  get views(): Iterable<ItemView> {
    return this.#views.values();
  }

  /** Synchronizes the articles with the list without moving the active slide. */
  update(slides: readonly Slide[], tail: HTMLElement | null): void {
    const watchedId = this.#slides[this.#index]?.id;
    this.#slides = slides;
    const kept = new Set(slides.map((slide) => slide.id));
    for (const article of this.#articles.filter(({ id }) => !kept.has(slideId(id)))) {
      this.#unmount(slideId(article.id));
      this.#articles.splice(this.#articles.indexOf(article), 1);
      article.remove();
    }
    for (const slide of slides.slice(this.#articles.length)) this.#append(slide);
    for (const slide of slides) {
      const view = this.#views.get(slide.id);
      if (view !== undefined && view.slide !== slide) this.#unmount(slide.id);
    }
    if (this.#tail !== tail) this.#tail?.remove();
    this.#tail = tail;
    if (tail !== null) this.#root.append(tail);
    const stillAt = slides.findIndex((slide) => slide.id === watchedId);
    if (stillAt >= 0 && stillAt !== this.#index) this.jump(stillAt);
    this.#index = Math.min(this.#index, this.#lastIndex);
    this.#mountNear();
  }

  /**
   * Moves by whole slides. Quick presses add up, because they count from the target of the current
   * movement.
   */
  step(offset: number): void {
    const from = this.#target ?? this.#index;
    const target = Math.max(0, Math.min(this.#lastIndex, from + offset));
    this.#target = target;
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.#scrollTo(target, calm ? 'instant' : 'smooth');
  }

  /** Goes to a slide without scrolling past the others. */
  jump(index: number): void {
    this.#index = index;
    this.#target = null;
    this.#scrollTo(index, 'instant');
    this.#mountNear();
  }

  /** Moves the focus along, so that Tab continues from the active slide. */
  takeFocus(): void {
    const tree = this.#root.getRootNode();
    const focused = tree instanceof ShadowRoot ? tree.activeElement : null;
    const isFree = this.#events.ownsPage && document.activeElement === document.body;
    if (!isFree && !this.#root.contains(focused)) return;
    this.#articles[this.#index]?.focus({ preventScroll: true });
  }

  /** Whether a step leads anywhere. */
  canStep(offset: number): boolean {
    const target = this.#index + offset;
    return target >= 0 && target <= this.#lastIndex;
  }

  /** The possible steps, or null if there is only one place, or no slide. */
  get steps(): { previous: boolean; next: boolean } | null {
    if (this.#slides.length === 0 || this.#lastIndex === 0) return null;
    return { previous: this.canStep(-1), next: this.canStep(1) };
  }

  /** The last reachable index: the last slide, or the tail after it. */
  get #lastIndex(): number {
    return Math.max(0, this.#slides.length - (this.#tail === null ? 1 : 0));
  }

  get #isHorizontal(): boolean {
    return this.#events.axis === 'horizontal';
  }

  get #slideLength(): number {
    return this.#isHorizontal ? this.#root.clientWidth : this.#root.clientHeight;
  }

  #scrollTo(index: number, behavior: ScrollBehavior): void {
    const offset = index * this.#slideLength;
    const left = isRightToLeft(this.#root) ? -offset : offset;
    this.#root.scrollTo(this.#isHorizontal ? { left, behavior } : { top: offset, behavior });
  }

  #onScroll(): void {
    clearTimeout(this.#settleTimer);
    this.#settleTimer = setTimeout(() => {
      this.#target = null;
      this.#events.settled();
    }, settledMs);
    const length = this.#slideLength;
    if (length === 0) return;
    // In right-to-left layouts, horizontal scroll offsets are negative.
    const offset = this.#isHorizontal ? Math.abs(this.#root.scrollLeft) : this.#root.scrollTop;
    const index = Math.min(this.#lastIndex, Math.round(offset / length));
    if (index === this.#index) return;
    this.#index = index;
    this.#mountNear();
    this.#events.moved();
  }

  #onResize(): void {
    this.#scrollTo(this.#index, 'instant');
    for (const view of this.#views.values()) this.#measure(view);
  }

  #append(slide: Slide): void {
    const article = element('article', {
      className: 'slide',
      id: `slide-${slide.id}`,
      tabIndex: -1,
    });
    article.setAttribute('aria-label', slide.item.title);
    article.setAttribute('aria-setsize', '-1');
    article.inert = true;
    this.#articles.push(article);
    this.#root.append(article);
  }

  #mountNear(): void {
    for (const [index, article] of this.#articles.entries()) {
      const slide = this.#slides[index];
      if (slide === undefined) continue;
      // Slides outside the window must not be reachable with Tab or by a screen reader.
      article.inert = index !== this.#index;
      article.setAttribute('aria-posinset', String(index + 1));
      const near = Math.abs(index - this.#index) <= mountedEachSide;
      if (!near) this.#unmount(slide.id);
      else if (!this.#views.has(slide.id)) this.#mount(article, slide);
    }
    if (this.#tail !== null) this.#tail.inert = this.#index < this.#slides.length;
  }

  /** Builds one slide. If that fails, the others are still built. */
  #mount(article: HTMLElement, slide: Slide): void {
    try {
      const view = this.#events.makeView(article, slide);
      this.#measure(view);
      this.#views.set(slide.id, view);
    } catch (error) {
      article.replaceChildren();
      this.#events.broken(slide, error);
    }
  }

  #measure(view: ItemView): void {
    view.fit();
    view.measureDescription();
  }

  #unmount(id: string): void {
    this.#views.get(id)?.unmount();
    this.#views.delete(id);
  }
}

function slideId(elementId: string): string {
  return elementId.slice('slide-'.length);
}
