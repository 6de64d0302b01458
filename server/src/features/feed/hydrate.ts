import type { Db } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import type { ItemTotals, ItemTotalsReader } from '../analytics/analytics.ts';
import { findItems, presentItem, type ItemRow, type MediaUrls } from '../content/content.ts';
import type { FeedEntry } from './feed-entry.ts';

const mostCachedItems = 10_000;

/** The JSON of an item as bytes, up to what changes all the time, and that with the closing brace. */
export type FeedItemJson = { readonly item: Buffer; readonly engagement: Buffer };

type Fragment = { revision: number; json: Buffer };

/** Turns entries into the JSON of their items. */
export type Hydrator = (
  organizationId: OrganizationId,
  entries: readonly FeedEntry[],
) => Promise<(FeedItemJson | null)[]>;

/**
 * Items are kept as the bytes of their JSON by revision, so a page of known items reads nothing and
 * serializes nothing; all the unknown ones of a page are read in one statement. An item that is
 * gone from the feed meanwhile gives null: its row may be newer than its entry, and that of an item
 * that has become private would be presented with its signed URLs.
 */
export function createHydrator(db: Db, urls: MediaUrls, totals: ItemTotalsReader): Hydrator {
  const fragments = new Map<string, Fragment>();

  function remember(row: ItemRow): Fragment {
    const fragment = {
      revision: row.revision,
      json: Buffer.from(JSON.stringify(presentFeedItem(row, urls)).slice(0, -1)),
    };
    // A Map keeps the order of insertion, so the first key is the one that was stored longest ago.
    const [oldest] = fragments.keys();
    if (fragments.size >= mostCachedItems && oldest !== undefined) fragments.delete(oldest);
    fragments.set(row.content_id, fragment);
    return fragment;
  }

  /** The items of the entries, in their order. */
  async function readItems(
    organizationId: OrganizationId,
    entries: readonly FeedEntry[],
  ): Promise<(Buffer | null)[]> {
    const missing = entries.filter(
      (entry) => (fragments.get(entry.contentId)?.revision ?? -1) < entry.revision,
    );
    const fresh = new Map<string, Fragment>();
    if (missing.length > 0) {
      const ids = missing.map((entry) => entry.contentId);
      for (const row of await findItems(db, organizationId, ids)) {
        if (isInFeed(row)) fresh.set(row.content_id, remember(row));
      }
    }
    const isMissing = new Set(missing);
    return entries.map((entry) => {
      const source = isMissing.has(entry) ? fresh : fragments;
      return source.get(entry.contentId)?.json ?? null;
    });
  }

  return async (organizationId, entries) => {
    const ids = entries.map((entry) => entry.contentId);
    const [items, engagement] = await Promise.all([
      readItems(organizationId, entries),
      totals.read(organizationId, ids),
    ]);
    return items.map((item, index) => {
      const total = engagement[index];
      return item === null || total === undefined
        ? null
        : { item, engagement: engagementJson(total) };
    });
  };
}

/** Totals are one object until they change, so their bytes are made once. */
const engagementBytes = new WeakMap<ItemTotals, Buffer>();

function engagementJson(total: ItemTotals): Buffer {
  let bytes = engagementBytes.get(total);
  if (bytes === undefined) {
    bytes = Buffer.from(`,"engagement":${JSON.stringify(total)}}`);
    engagementBytes.set(total, bytes);
  }
  return bytes;
}

/** The condition of the index, on a row that was read after it. */
function isInFeed(row: ItemRow): boolean {
  return (
    row.upload_status === 'ready' &&
    row.publish_status === 'published' &&
    row.visibility === 'public'
  );
}

/** An item with the fields that only the feed has, but for its engagement. */
function presentFeedItem(row: ItemRow, urls: MediaUrls) {
  return {
    ...presentItem(row, urls),
    isLive: false,
    liveStreamId: null,
    liveStreamStatus: null,
    currentViewers: 0,
  };
}
