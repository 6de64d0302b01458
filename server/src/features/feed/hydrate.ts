import type { Db } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import type { ItemTotals, ItemTotalsReader } from '../analytics/analytics.ts';
import {
  findCarouselVideos,
  findItems,
  isInFeed,
  presentItem,
  type ItemRow,
  type MediaUrls,
} from '../content/content.ts';
import type { FeedEntry } from './items/feed-entry.ts';
import type { LiveState } from '../live/live.ts';

const maxCachedItems = 10_000;
/** Items name URLs that are signed for some hours, so none is shown as it was long ago. */
const maxAgeMs = 3_600_000;

/** The JSON of an item as bytes, up to what changes all the time, and that with the closing brace. */
export type FeedItemJson = { readonly item: Buffer; readonly engagement: Buffer };

type Fragment = { revision: number; json: Buffer; madeAtMs: number };

/** Turns entries into the JSON of their items. */
export type Hydrator = (
  organizationId: OrganizationId,
  entries: readonly FeedEntry[],
  live: ReadonlyMap<string, LiveState>,
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
      json: Buffer.from(JSON.stringify(presentItem(row, urls)).slice(0, -1)),
      madeAtMs: Date.now(),
    };
    // A Map keeps the order of insertion, so the first key is the one that was stored longest ago.
    const [oldest] = fragments.keys();
    if (fragments.size >= maxCachedItems && oldest !== undefined) fragments.delete(oldest);
    fragments.set(row.content_id, fragment);
    return fragment;
  }

  /** The items of the entries, in their order. */
  async function readItems(
    organizationId: OrganizationId,
    entries: readonly FeedEntry[],
  ): Promise<(Buffer | null)[]> {
    const oldestMs = Date.now() - maxAgeMs;
    const missing = entries.filter(({ contentId, revision }) => {
      const known = fragments.get(contentId);
      return known === undefined || known.revision < revision || known.madeAtMs < oldestMs;
    });
    const fresh = new Map<string, Fragment>();
    if (missing.length > 0) {
      const ids = missing.map((entry) => entry.contentId);
      for (const row of await findItems(db, organizationId, ids)) {
        if (isInFeed(row)) fresh.set(row.content_id, remember(row));
      }
    }
    const isMissing = new Set(missing);
    const videos = await readVideos(db, urls, organizationId, entries);
    return entries.map((entry) => {
      const source = isMissing.has(entry) ? fresh : fragments;
      const json = source.get(entry.contentId)?.json ?? null;
      if (json === null || entry.contentType !== 'video_carousel') return json;
      const shown = videos.get(entry.contentId);
      return shown === undefined ? null : Buffer.concat([json, shown]);
    });
  }

  return async (organizationId, entries, live) => {
    const ids = entries.map((entry) => entry.contentId);
    const [items, engagement] = await Promise.all([
      readItems(organizationId, entries),
      totals.read(organizationId, ids),
    ]);
    return items.map((item, index) => {
      const total = engagement[index];
      if (item === null || total === undefined) return null;
      const state = live.get(ids[index] ?? '');
      return { item, engagement: state === undefined ? tailOf(total) : liveTail(total, state) };
    });
  };
}

/**
 * The field `videos` of each video carousel, by the carousel's id. It is read for every page: a video
 * that may not be shown any more is left out at once, and a carousel without any is absent here.
 */
async function readVideos(
  db: Db,
  urls: MediaUrls,
  organizationId: OrganizationId,
  entries: readonly FeedEntry[],
): Promise<Map<string, Buffer>> {
  const carousels = entries.filter(({ contentType }) => contentType === 'video_carousel');
  if (carousels.length === 0) return new Map();
  const ids = carousels.map(({ contentId }) => contentId);
  const rows = await findCarouselVideos(db, organizationId, ids);
  return new Map(
    [...Map.groupBy(rows, (row) => row.carousel_id)].map(([id, videos]) => {
      const shown = videos.map((row) => ({ ...presentItem(row, urls), ...notLive }));
      return [id, Buffer.from(`,"videos":${JSON.stringify(shown)}`)];
    }),
  );
}

const notLive = {
  isLive: false,
  liveStreamId: null,
  liveStreamStatus: null,
  currentViewers: 0,
};

/** Totals are one object until they change, so the bytes of what changes all the time are made once. */
const tails = new WeakMap<ItemTotals, Buffer>();

function tailOf(total: ItemTotals): Buffer {
  let bytes = tails.get(total);
  if (bytes === undefined) {
    bytes = liveTail(total, null);
    tails.set(total, bytes);
  }
  return bytes;
}

/** The fields that only the feed has, with the brace that closes the item. */
function liveTail(engagement: ItemTotals, live: LiveState | null): Buffer {
  const fields = JSON.stringify({
    isLive: live?.status === 'active',
    liveStreamId: live?.liveStreamId ?? null,
    liveStreamStatus: live?.status ?? null,
    currentViewers: live?.currentViewers ?? 0,
    engagement,
  });
  return Buffer.from(`,${fields.slice(1)}`);
}
