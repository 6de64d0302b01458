import { type CarouselImage } from '@reelfeed/client';
import { element, isRightToLeft, setName } from '../page/dom.ts';
import { webAddress } from '@reelfeed/client/playing';
import { type Texts } from '../texts.ts';

/**
 * The pictures of an image carousel: swiped sideways, moved by buttons, or by the arrow keys once
 * the strip has the focus. They advance automatically until the viewer takes over.
 */
export class Pictures {
  readonly root: HTMLElement;
  readonly #strip: HTMLElement;
  readonly #place: HTMLElement;
  readonly #texts: Texts;
  #count = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isTaken = false;
  #mayLoad = false;

  constructor(title: string, texts: Texts) {
    this.#texts = texts;
    this.#strip = element('div', { className: 'pictures', tabIndex: 0 });
    this.#strip.setAttribute('role', 'group');
    this.#strip.setAttribute('aria-label', title);
    // A fraction such as 3/7 reads from left to right in every language.
    this.#place = element('output', { className: 'place', dir: 'ltr' });
    this.root = element(
      'div',
      { className: 'carousel' },
      this.#strip,
      this.#button('before', texts.previousPicture, -1),
      this.#button('after', texts.nextPicture, 1),
      this.#place,
    );
    this.#strip.addEventListener('scroll', () => this.#showPlace(), { passive: true });
    for (const touch of ['pointerdown', 'keydown', 'wheel']) {
      this.root.addEventListener(touch, () => this.#take(), { passive: true });
    }
  }

  /** Shows these pictures instead of the previous ones. */
  show(pictures: readonly CarouselImage[]): void {
    const shown = pictures.filter(({ imageUrl }) => webAddress(imageUrl) !== null);
    this.#count = shown.length;
    this.root.classList.toggle('single', shown.length < 2);
    const images = shown.map(({ imageUrl, altText }, index) => {
      const alt = altText ?? this.#texts.pictureOf(index + 1, shown.length);
      const image = element('img', { alt, decoding: 'async' });
      image.dataset['src'] = imageUrl;
      return image;
    });
    this.#strip.replaceChildren(...images);
    if (this.#mayLoad) this.load();
    this.#showPlace();
  }

  /** Loads the pictures, including any that are set later. */
  load(): void {
    this.#mayLoad = true;
    for (const image of Array.from(this.#strip.querySelectorAll('img'))) {
      const source = image.dataset['src'] ?? '';
      if (image.src === '') image.src = source;
    }
  }

  /** Advances at this interval in seconds, from the last picture to the first. */
  turnEvery(seconds: number | null): void {
    this.stop();
    if (seconds === null || !(seconds > 0) || this.#isTaken) return;
    this.#timer = setInterval(() => this.#goTo((this.#index + 1) % this.#count), seconds * 1_000);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  get #index(): number {
    const width = this.#strip.clientWidth;
    return width === 0 ? 0 : Math.round(Math.abs(this.#strip.scrollLeft) / width);
  }

  /** A viewer who moves the pictures wants to look at them. */
  #take(): void {
    this.#isTaken = true;
    this.stop();
  }

  #goTo(index: number): void {
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const offset = index * this.#strip.clientWidth;
    const left = isRightToLeft(this.#strip) ? -offset : offset;
    this.#strip.scrollTo({ left, behavior: calm ? 'instant' : 'smooth' });
  }

  #showPlace(): void {
    this.#place.textContent = this.#texts.picturePlace(this.#index + 1, this.#count);
  }

  #button(className: string, name: string, offset: number): HTMLButtonElement {
    const icon = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    icon.setAttribute('aria-hidden', 'true');
    const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
    use.setAttribute('href', '#icon-up');
    icon.append(use);
    const button = element('button', { className, type: 'button' }, icon);
    setName(button, name);
    button.addEventListener('click', () => {
      this.#take();
      this.#goTo(Math.max(0, Math.min(this.#count - 1, this.#index + offset)));
    });
    return button;
  }
}
