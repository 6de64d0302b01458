import { find } from '../page/dom.ts';
import { formatTime } from './format.ts';
import { Storyboard } from './storyboard.ts';
import { type Texts } from '../texts.ts';

const steps = 1000;

/**
 * The progress line. The invisible range input above it provides dragging, keyboard and
 * accessibility support; the line itself is drawn by scaling, which costs no layout per frame.
 */
export class SeekBar {
  readonly root: HTMLElement;
  /** Shown while the viewer drags. */
  readonly storyboard: Storyboard;
  readonly #texts: Texts;
  readonly #input: HTMLInputElement;
  readonly #played: HTMLElement;
  readonly #buffered: HTMLElement;
  readonly #clock: HTMLElement;
  #spokenSecond = -1;
  #lengthSeconds = 0;
  #dragging = false;

  constructor(root: HTMLElement, actions: { seekTo(fraction: number): void }, texts: Texts) {
    this.#texts = texts;
    this.root = root;
    this.storyboard = new Storyboard(find(root, '.glance', HTMLElement));
    this.#input = find(root, 'input', HTMLInputElement);
    this.#played = find(root, '.played', HTMLElement);
    this.#buffered = find(root, '.buffered', HTMLElement);
    this.#clock = find(root, '.clock', HTMLElement);
    this.#input.setAttribute('aria-label', texts.position);
    this.#input.addEventListener('input', () => {
      actions.seekTo(this.#fraction);
      void this.storyboard.show(this.#fraction * this.#lengthSeconds);
    });
    this.#input.addEventListener('pointerdown', () => this.#drag(true));
    // Emulates `:has(:focus-visible)` for the oldest browsers.
    this.#input.addEventListener('keyup', () => root.classList.add('keyed'));
    for (const end of ['pointerdown', 'blur']) {
      this.#input.addEventListener(end, () => root.classList.remove('keyed'));
    }
    for (const end of ['pointerup', 'pointercancel', 'blur']) {
      this.#input.addEventListener(end, () => this.#drag(false));
    }
  }

  /** Draws a position. All three are in seconds; the length may still be unknown. */
  show(positionSeconds: number, lengthSeconds: number, bufferedSeconds: number): void {
    if (!Number.isFinite(lengthSeconds) || lengthSeconds <= 0) return;
    this.#lengthSeconds = lengthSeconds;
    const fraction = Math.min(1, positionSeconds / lengthSeconds);
    this.#played.style.transform = `scaleX(${fraction})`;
    this.#buffered.style.transform = `scaleX(${Math.min(1, bufferedSeconds / lengthSeconds)})`;
    if (!this.#dragging) this.#input.value = String(Math.round(fraction * steps));
    const second = Math.floor(positionSeconds);
    if (second === this.#spokenSecond) return;
    this.#spokenSecond = second;
    const [position, length] = [formatTime(positionSeconds), formatTime(lengthSeconds)];
    this.#clock.textContent = `${position} / ${length}`;
    this.#input.setAttribute('aria-valuetext', this.#texts.timeOf(position, length));
  }

  /** The position of the handle, from 0 to 1. */
  get #fraction(): number {
    return Number(this.#input.value) / steps;
  }

  #drag(dragging: boolean): void {
    this.#dragging = dragging;
    this.root.classList.toggle('dragging', dragging);
    this.root.closest('.slide')?.classList.toggle('seeking', dragging);
  }
}
