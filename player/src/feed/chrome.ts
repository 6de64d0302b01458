import { element, find, setName } from '../page/dom.ts';
import { type Texts } from '../texts.ts';

const toastMs = 2200;

/**
 * Controls that float over the column: the unmute button, step buttons, the list of keys, messages.
 */
export class Chrome {
  readonly #toast: HTMLElement;
  readonly #notice: HTMLElement;
  readonly #unmute: HTMLElement;
  readonly #steps: HTMLElement;
  readonly #previous: HTMLButtonElement;
  readonly #next: HTMLButtonElement;
  readonly #shortcuts: HTMLElement;
  #toastTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    root: ParentNode,
    texts: Texts,
    actions: { unmute(): void; step(offset: number): void },
  ) {
    this.#toast = find(root, '#toast', HTMLElement);
    this.#notice = find(root, '#notice', HTMLElement);
    this.#unmute = find(root, '#unmute', HTMLButtonElement);
    this.#steps = find(root, '.steps', HTMLElement);
    this.#previous = find(root, '#previous', HTMLButtonElement);
    this.#next = find(root, '#next', HTMLButtonElement);
    this.#shortcuts = find(root, '.shortcuts', HTMLElement);
    find(root, '.brand span', HTMLElement).textContent = texts.brand;
    find(this.#unmute, 'span', HTMLElement).textContent = texts.tapToUnmute;
    setName(this.#unmute, texts.tapToUnmute);
    this.#unmute.addEventListener('click', () => actions.unmute());
    this.#steps.setAttribute('aria-label', texts.steps);
    setName(this.#previous, texts.previousClip);
    setName(this.#next, texts.nextClip);
    this.#previous.addEventListener('click', () => actions.step(-1));
    this.#next.addEventListener('click', () => actions.step(1));
    for (const [keys, meaning] of texts.shortcuts) {
      const caps = keys.map((key) => element('kbd', {}, this.#capOf(key)));
      this.#shortcuts.append(element('dt', {}, ...caps), element('dd', {}, meaning));
    }
  }

  /** Shows a message for two seconds and announces it to screen readers. */
  showToast(text: string): void {
    clearTimeout(this.#toastTimer);
    this.#toast.textContent = text;
    this.#toast.classList.add('shown');
    this.#toastTimer = setTimeout(() => this.#toast.classList.remove('shown'), toastMs);
  }

  /** Shows a persistent state, such as being offline. Null removes it. */
  showNotice(text: string | null): void {
    this.#notice.hidden = text === null;
    // Writing the same text again would make a screen reader repeat it.
    if (this.#notice.textContent !== (text ?? '')) this.#notice.textContent = text ?? '';
  }

  showUnmute(shown: boolean): void {
    this.#unmute.hidden = !shown;
  }

  /** Once the viewer has moved on without sound, the unmute button shrinks to its icon. */
  shrinkUnmute(): void {
    this.#unmute.classList.add('small');
  }

  /** Shows which steps are possible; null hides the buttons and the list of keys. */
  showSteps(possible: { previous: boolean; next: boolean } | null): void {
    this.#steps.hidden = possible === null;
    this.#shortcuts.hidden = possible === null;
    this.#previous.disabled = possible?.previous !== true;
    this.#next.disabled = possible?.next !== true;
  }

  /** Arrows are drawn as icons, because not every font has them. */
  #capOf(key: string): Node | string {
    if (!['up', 'down', 'left', 'right'].includes(key)) return key;
    const icon = find(this.#previous, 'svg', SVGSVGElement).cloneNode(true);
    if (icon instanceof SVGSVGElement) icon.dataset['turn'] = key;
    return icon;
  }
}
