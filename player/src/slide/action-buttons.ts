import { type FeedItem } from '@reelfeed/client';
import { connectMenu, type MenuActions } from '../menu/menu-loader.ts';
import { find, setIcon, setLabel, setName } from '../page/dom.ts';
import { type Texts } from '../texts.ts';
import { formatCount } from './format.ts';

/** Callbacks for the buttons beside an item. */
export type ItemActions = {
  toggleLike(): void;
  toggleSave(): void;
  toggleMute(): void;
  toggleCaptions(): void;
  share(): void;
  readonly menu: MenuActions;
};

/** The buttons beside a slide, and the menu below them. */
export class ActionButtons {
  readonly #article: HTMLElement;
  readonly #texts: Texts;

  constructor(article: HTMLElement, texts: Texts) {
    this.#article = article;
    this.#texts = texts;
  }

  connect(item: FeedItem, actions: ItemActions): void {
    const texts = this.#texts;
    this.#on('.like', () => actions.toggleLike());
    this.#on('.save', () => actions.toggleSave());
    this.#on('.share', () => actions.share());
    this.#on('.mute', () => actions.toggleMute());
    this.#on('.captions', () => actions.toggleCaptions());
    const menu = find(this.#article, '.options', HTMLDetailsElement);
    connectMenu(menu, item, { texts, actions: actions.menu });
    const sound = this.#button('.mute');
    setName(sound, texts.sound);
    setLabel(sound, texts.sound);
    this.#count(this.#button('.share'), texts.share, item.engagement.shares);
    const captions = this.#button('.captions');
    captions.hidden = !item.captionTracks.some((track) => track.status === 'ready');
    setName(captions, texts.captions);
    setLabel(captions, texts.captions);
  }

  showMuted(muted: boolean): void {
    const button = this.#button('.mute');
    setIcon(button, muted ? 'muted' : 'sound');
    button.setAttribute('aria-pressed', String(!muted));
  }

  showLiked(liked: boolean, count: number): void {
    this.#showMark('.like', this.#texts.like, liked, count);
  }

  showSaved(saved: boolean, count: number): void {
    this.#showMark('.save', this.#texts.save, saved, count);
  }

  showCaptions(shown: boolean): void {
    this.#button('.captions').setAttribute('aria-pressed', String(shown));
  }

  #showMark(selector: string, name: string, marked: boolean, count: number): void {
    const button = this.#button(selector);
    button.setAttribute('aria-pressed', String(marked));
    this.#count(button, name, count);
  }

  /**
   * Shows a count, or the name if the count is 0. The accessible name contains the visible text.
   */
  #count(button: HTMLElement, name: string, count: number): void {
    const shown = formatCount(count);
    setName(button, `${name} ${shown}`.trim());
    setLabel(button, shown || name);
  }

  #on(selector: string, action: () => void): void {
    this.#button(selector).addEventListener('click', action);
  }

  #button(selector: string): HTMLButtonElement {
    return find(this.#article, selector, HTMLButtonElement);
  }
}
