import { type FeedItem, type FeedPage, ReelfeedError } from '@reelfeed/client';
import { slidesOf, type Arrival, type Slide } from '@reelfeed/client/playing';
import { type PlayerOptions } from './player-options.ts';

const pageSize = 10;
/** The maximum number of ids per request; enough for a page and the videos of its carousels. */
const recalledItems = 100;

type Readers = {
  noteFeed(feedId: string | null): void;
  /** Loads the viewer's reactions in the background; slides show them once they are known. */
  recall(ids: readonly string[]): void;
};

/** The source of the items: the feed, a link into it, or the one item that the page shows. */
export class FeedPages {
  readonly #options: PlayerOptions;
  readonly #readers: Readers;
  /** Ids of the slides of the linked item. */
  #linkedIds: readonly string[] = [];

  constructor(options: PlayerOptions, readers: Readers) {
    this.#options = options;
    this.#readers = readers;
  }

  /** How the viewer reaches a slide; null stands for no slide. */
  entryPointOf(slide: Slide | null): Arrival['entryPoint'] {
    const { contentId, entryPoint } = this.#options;
    if (contentId !== null) return 'direct';
    const isLinked = slide !== null && this.#linkedIds.includes(slide.id);
    return isLinked ? entryPoint : 'feed';
  }

  /**
   * The linked item. Null without a link, or if the item may not be watched or can't be read; the
   * feed then plays without it.
   */
  readLinked(id: string | null): Promise<FeedItem | null> | null {
    this.#linkedIds = [];
    return id === null ? null : this.#readLinkedItem(id);
  }

  async #readLinkedItem(id: string): Promise<FeedItem | null> {
    const { client, chrome, texts } = this.#options;
    try {
      const item = await client.item(id);
      this.#linkedIds = slidesOf(item, () => {}, true).map((slide) => slide.id);
      this.#recall([item]);
      if (this.#linkedIds.length > 0) return item;
    } catch (error) {
      if (!(error instanceof ReelfeedError)) throw error;
    }
    chrome.showToast(texts.linkedClipMissing);
    return null;
  }

  async read(cursor: string | null, signal: AbortSignal): Promise<FeedPage> {
    const { sessionId, client, query, contentId } = this.#options;
    if (contentId !== null) {
      const item = await client.item(contentId, { signal });
      this.#recall([item]);
      return pageOf(item);
    }
    const page = await client.feed({ ...query, limit: pageSize, cursor, sessionId, signal });
    this.#readers.noteFeed(page.feedId);
    this.#recall(page.items);
    return page;
  }

  /** Malformed items are skipped here, because the list reports them. */
  #recall(items: readonly FeedItem[]): void {
    const ids = items.flatMap((item) => slidesOf(item, () => {})).map(({ id }) => id);
    this.#readers.recall(ids.slice(0, recalledItems));
  }
}

/** A page that contains only this item and has no next page. */
function pageOf(item: FeedItem): FeedPage {
  const none = { nextCursor: null, hasMore: false, feedId: null, exhausted: false };
  return { ...none, items: [item], experiments: [], requestId: null };
}
