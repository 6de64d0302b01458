import { type FeedItem } from '@reelfeed/client';
import { webAddress } from '@reelfeed/client/playing';
import { find } from '../page/dom.ts';
import { placeholderOf } from './placeholder.ts';
import { posterOf } from './poster.ts';

type ThumbnailParts = {
  readonly item: FeedItem;
  /** Whether it is also shown in the place of the media, until a clip plays. */
  readonly isPoster: boolean;
  /** Whether to prefer a small picture, because the connection is slow. */
  readonly savesBytes: boolean;
};

/** The still picture of a slide: behind its media, and in their place. */
export class Thumbnail {
  readonly #article: HTMLElement;
  readonly #parts: ThumbnailParts;
  /** The address to load as soon as loading is allowed. */
  #waiting: string | null = null;
  #mayLoad = false;

  constructor(article: HTMLElement, parts: ThumbnailParts) {
    this.#article = article;
    this.#parts = parts;
  }

  /** Shows the blurred placeholder until the thumbnail has loaded. */
  show(pictured: Parameters<typeof posterOf>[0]): void {
    const url = posterOf(pictured, this.#leastWidth);
    const placeholder = placeholderOf(this.#parts.item.thumbnailHash);
    const source = webAddress(url) ?? placeholder;
    if (source === null) return;
    for (const image of this.#images) {
      image.hidden = false;
      image.style.backgroundImage = placeholder === null ? '' : `url("${placeholder}")`;
    }
    this.#waiting = source;
    if (this.#mayLoad) this.load();
  }

  /** Loads the thumbnail, including any that is set later. */
  load(): void {
    this.#mayLoad = true;
    const source = this.#waiting;
    this.#waiting = null;
    if (source === null) return;
    for (const image of this.#images) {
      image.addEventListener('error', () => (image.hidden = true), { once: true });
      image.addEventListener('load', () => (image.style.backgroundImage = ''), { once: true });
      image.src = source;
    }
  }

  /**
   * Shows the animated preview of a clip that waits for a tap, unless the viewer prefers reduced
   * motion.
   */
  animate(previewUrl: string | null): void {
    const preview = webAddress(previewUrl);
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    if (preview === null || isCalm) return;
    find(this.#article, '.poster', HTMLImageElement).src = preview;
  }

  get #images(): HTMLImageElement[] {
    const names = ['.ambient', '.backdrop', ...(this.#parts.isPoster ? ['.poster'] : [])];
    return names.map((name) => find(this.#article, name, HTMLImageElement));
  }

  /** The desired width in device pixels. */
  get #leastWidth(): number {
    if (this.#parts.savesBytes) return 0;
    const frame = find(this.#article, '.frame', HTMLElement);
    return frame.clientWidth * Math.min(2, devicePixelRatio);
  }
}
