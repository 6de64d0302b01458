import { ReelfeedError, type Reactions as KnownReactions } from '@reelfeed/client';
import { type Chrome } from './chrome.ts';
import { type ItemView } from '../slide/item-view.ts';
import { type Marks, type Slide, type Viewing } from '@reelfeed/client/playing';
import { shareItem } from '../page/share.ts';
import { type Texts } from '../texts.ts';

export type ReactionParts = {
  readonly chrome: Chrome;
  readonly texts: Texts;
  readonly likes: Marks;
  readonly saves: Marks;
  /** The address that opens one item. */
  readonly addressOf: (contentId: string) => string;
  /** Asks the service what the viewer likes and has saved. Null if only the browser knows. */
  readonly recall: ((contentIds: readonly string[]) => Promise<KnownReactions>) | null;
};

/** A viewer's actions on the active slide other than watching it. */
export class Reactions {
  readonly #parts: ReactionParts;
  readonly #viewing: Viewing;

  constructor(parts: ReactionParts, viewing: Viewing) {
    this.#parts = parts;
    this.#viewing = viewing;
  }

  /** Shows on a new view what the viewer has liked and saved. */
  draw(view: ItemView): void {
    const { likes, saves } = this.#parts;
    const { id, item } = view.slide;
    view.showLiked(likes.has(id), likes.countOf(item));
    view.showSaved(saves.has(id), saves.countOf(item));
  }

  /**
   * Fetches what the viewer likes on all devices and shows it on `views`. Without a response, this
   * browser's own state remains.
   */
  async recall(contentIds: readonly string[], views: () => Iterable<ItemView>): Promise<void> {
    const { recall, likes, saves } = this.#parts;
    if (recall === null || contentIds.length === 0) return;
    try {
      const known = await recall(contentIds);
      likes.take(contentIds, known.likes);
      saves.take(contentIds, known.saves);
    } catch (error) {
      if (!(error instanceof ReelfeedError)) throw error;
      return;
    }
    for (const view of views()) this.draw(view);
  }

  /** A double tap likes, and never removes a like. */
  like(view: ItemView): void {
    if (!this.#parts.likes.has(view.slide.id)) this.toggleLike(view);
    view.burst();
  }

  toggleLike(view: ItemView): void {
    const { likes } = this.#parts;
    const { item } = view.slide;
    const liked = likes.toggle(item);
    view.showLiked(liked, likes.countOf(item));
    this.#viewing.like(item, liked);
  }

  toggleSave(view: ItemView): void {
    const { saves } = this.#parts;
    const { item } = view.slide;
    const saved = saves.toggle(item);
    view.showSaved(saved, saves.countOf(item));
    this.#viewing.save(item, saved);
  }

  async share({ id, item }: Slide): Promise<void> {
    const { chrome, texts, addressOf } = this.#parts;
    const result = await shareItem(addressOf(id), item.title);
    if (result === 'copied') chrome.showToast(texts.linkCopied);
    if (result === 'failed') chrome.showToast(texts.linkFailed);
    if (result === 'copied') this.#viewing.share(id, 'clipboard');
    if (result === 'shared') this.#viewing.share(id, 'device');
  }

  /** The viewer wants less of the item, its author or its tags, or reverses this. */
  refuse({ item }: Slide, scope: 'item' | 'author' | 'tag', isSet: boolean): void {
    const { chrome, texts } = this.#parts;
    this.#viewing.refuse(item, scope, isSet);
    chrome.showToast(isSet ? texts.refused : texts.takenBack);
  }

  report({ item }: Slide, reason: string, isSet: boolean): void {
    const { chrome, texts } = this.#parts;
    this.#viewing.report(item, reason, isSet);
    chrome.showToast(isSet ? texts.reported : texts.takenBack);
  }
}
