import { type FeedList } from './feed-list.ts';

/** Pages that are read to find the item that a shared link names. */
const pagesSearched = 3;

export type SearchStep =
  | { readonly name: 'found'; readonly index: number }
  | { readonly name: 'read on' | 'missing' | 'over' };

/** Looks for the item of a shared link in the first pages of a feed. */
export class LinkedSearch {
  #id: string | null = null;
  #pagesRead = 0;

  /** Starts over with a new feed; null looks for nothing. */
  begin(id: string | null): void {
    this.#id = id;
    this.#pagesRead = 0;
  }

  /** Counts a page that was read, with the item or without. */
  countPage(): void {
    this.#pagesRead += 1;
  }

  /** What to do after a change of the list. `found` and `missing` are answered once. */
  step({ slides, phase }: FeedList): SearchStep {
    if (this.#id === null || phase.name === 'loading') return { name: 'over' };
    const index = slides.findIndex((slide) => slide.id === this.#id);
    const gaveUp = phase.name === 'ended' || this.#pagesRead >= pagesSearched;
    if (index < 0 && !gaveUp) return { name: 'read on' };
    this.#id = null;
    return index < 0 ? { name: 'missing' } : { name: 'found', index };
  }
}
