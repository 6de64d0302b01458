import { element, find, setName } from './dom.ts';
import { strings } from './strings.ts';

const toastMs = 2200;

const toast = find(document, '#toast', HTMLElement);
const notice = find(document, '#notice', HTMLElement);
const unmute = find(document, '#unmute', HTMLButtonElement);
const steps = find(document, '.steps', HTMLElement);
const previous = find(document, '#previous', HTMLButtonElement);
const next = find(document, '#next', HTMLButtonElement);
const shortcuts = find(document, '.shortcuts', HTMLElement);
let toastTimer: ReturnType<typeof setTimeout> | undefined;

/** Says something for two seconds, to the eye and to a screen reader. */
export function showToast(text: string): void {
  clearTimeout(toastTimer);
  toast.textContent = text;
  toast.classList.add('shown');
  toastTimer = setTimeout(() => toast.classList.remove('shown'), toastMs);
}

/** Says what holds until it changes, such as being offline. Null takes it away. */
export function showNotice(text: string | null): void {
  notice.hidden = text === null;
  // Writing the same text again would make a screen reader repeat it.
  if (notice.textContent !== (text ?? '')) notice.textContent = text ?? '';
}

export function showUnmute(shown: boolean): void {
  unmute.hidden = !shown;
}

/** Tells which steps are possible; null hides the buttons and the list of keys. */
export function showSteps(possible: { previous: boolean; next: boolean } | null): void {
  steps.hidden = possible === null;
  shortcuts.hidden = possible === null;
  previous.disabled = possible?.previous !== true;
  next.disabled = possible?.next !== true;
}

/** Once the viewer has gone on without sound, the offer shrinks to its icon. */
export function shrinkUnmute(): void {
  unmute.classList.add('small');
}

/** Connects the buttons that float over the column. */
export function connectChrome(actions: { unmute(): void; step(offset: number): void }): void {
  find(unmute, 'span', HTMLElement).textContent = strings.tapToUnmute;
  setName(unmute, strings.tapToUnmute);
  unmute.addEventListener('click', () => actions.unmute());
  setName(previous, strings.previousClip);
  setName(next, strings.nextClip);
  previous.addEventListener('click', () => actions.step(-1));
  next.addEventListener('click', () => actions.step(1));
  for (const [keys, meaning] of strings.shortcuts) {
    const caps = keys.map((key) => element('kbd', {}, capOf(key)));
    shortcuts.append(element('dt', {}, ...caps), element('dd', {}, meaning));
  }
}

/** Arrows are drawn, because not every font has them. */
function capOf(key: string): Node | string {
  if (!['up', 'down', 'left', 'right'].includes(key)) return key;
  const icon = find(previous, 'svg', SVGSVGElement).cloneNode(true);
  if (icon instanceof SVGSVGElement) icon.dataset['turn'] = key;
  return icon;
}
