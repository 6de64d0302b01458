import { type FeedItem } from '@reelfeed/client';
import type * as Menu from './menu.ts';
import { find, setName } from '../page/dom.ts';
import { type Texts } from '../texts.ts';

export type MenuActions = {
  speed: number;
  /** From 0 to 1. */
  volume: number;
  refuse(scope: 'item' | 'author' | 'tag', isSet: boolean): void;
  report(reason: string, isSet: boolean): void;
  /** The active clip, or null if there is none. */
  video(): HTMLVideoElement | null;
  /** The element, which can go fullscreen. */
  host(): HTMLElement;
};

type Parts = {
  readonly texts: Texts;
  readonly actions: MenuActions;
};

let loading: Promise<typeof Menu> | undefined;

/**
 * Few viewers open a menu, so its code is loaded on first use. The next call retries a failed
 * fetch.
 */
function loadMenu(): Promise<typeof Menu> {
  loading ??= import('./menu.ts').catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/** Connects the button that opens the menu of a slide. */
export function connectMenu(root: HTMLDetailsElement, item: FeedItem, parts: Parts): void {
  const { texts, actions } = parts;
  const summary = find(root, 'summary', HTMLElement);
  const menu = find(root, '.menu', HTMLElement);
  setName(summary, texts.options);
  find(summary, 'span', HTMLElement).textContent = texts.options;
  const close = (): void => {
    root.open = false;
    summary.focus({ preventScroll: true });
  };
  // Starts loading the code as soon as the pointer or the focus reaches the button.
  for (const sign of ['pointerenter', 'focusin']) {
    root.addEventListener(sign, () => void loadMenu().catch(() => {}), { once: true });
  }
  root.addEventListener('toggle', () => {
    if (!root.open) return;
    loadMenu().then(
      ({ fillMenu }) => fillMenu(menu, item, { texts, actions, close }),
      () => close(),
    );
  });
  root.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !root.open) return;
    close();
    event.stopPropagation();
  });
  root.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !root.contains(relatedTarget)) root.open = false;
  });
}
