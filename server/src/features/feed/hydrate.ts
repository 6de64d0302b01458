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

/** A video of a carousel that may be shown now. */
type Video = { id: string; carouselId: string; json: Buffer };

/** Turns entries into the JSON of their items. */
export type Hydrator = (
  organizationId: OrganizationId,
  entries: readonly FeedEntry[],
  live: ReadonlyMap<string, LiveState>,
) => Promise<(FeedItemJson | null)[]>;

/**
 * Items and the videos of carousels are kept as the bytes of their JSON by revision, so a page of known
 * items reads nothing and serializes nothing; all the unknown ones of a page are read in one
 * statement. A video in a carousel has every field that an item of the feed has.
 */
export function createHydrator(db: Db, urls: MediaUrls, totals: ItemTotalsReader): Hydrator {
  const fragments = new Fragments(urls);
  return async (organizationId, entries, live) => {
    const videos = await readVideos(db, fragments, organizationId, entries);
    const ids = new Set(entries.map(({ contentId }) => contentId));
    for (const { id } of [...videos.values()].flat()) ids.add(id);
    const [items, engagement] = await Promise.all([
      readItems(db, fragments, organizationId, entries),
      totals.read(organizationId, [...ids]),
    ]);
    const tailsById = new Map(
      [...ids].map((id, index) => [id, tailOf(engagement[index] ?? noTotals, live.get(id))]),
    );
    const tail = (id: string): Buffer => tailsById.get(id) ?? tailOf(noTotals, undefined);
    return entries.map(({ contentId, contentType }, index) => {
      const item = items[index] ?? null;
      const shown = videos.get(contentId)?.map(({ id, json }) => Buffer.concat([json, tail(id)]));
      if (item === null) return null;
      if (contentType !== 'video_carousel') return { item, engagement: tail(contentId) };
      if (shown === undefined) return null;
      return { item: withVideos(item, shown), engagement: tail(contentId) };
    });
  };
}

/** The bytes of items, up to what changes all the time. */
class Fragments {
  readonly #urls: MediaUrls;
  readonly #kept = new Map<string, Fragment>();

  constructor(urls: MediaUrls) {
    this.#urls = urls;
  }

  /** The kept item, if it is of this revision or a later one and not too old. */
  known(contentId: string, revision: number): Buffer | null {
    const fragment = this.#kept.get(contentId);
    if (fragment === undefined || fragment.revision < revision) return null;
    return fragment.madeAtMs < Date.now() - maxAgeMs ? null : fragment.json;
  }

  remember(row: ItemRow): Buffer {
    const json = Buffer.from(JSON.stringify(presentItem(row, this.#urls)).slice(0, -1));
    // A Map keeps the order of insertion, so the first key is the one that was stored longest ago.
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= maxCachedItems && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(row.content_id, { revision: row.revision, json, madeAtMs: Date.now() });
    return json;
  }
}

/**
 * The items of the entries, in their order. An item that is gone from the feed meanwhile gives null:
 * its row may be newer than its entry, and that of an item that has become private would be presented
 * with its signed URLs.
 */
async function readItems(
  db: Db,
  fragments: Fragments,
  organizationId: OrganizationId,
  entries: readonly FeedEntry[],
): Promise<(Buffer | null)[]> {
  const known = entries.map(({ contentId, revision }) => fragments.known(contentId, revision));
  const missing = entries.filter((_entry, index) => known[index] === null);
  const fresh = new Map<string, Buffer>();
  if (missing.length > 0) {
    const ids = missing.map((entry) => entry.contentId);
    for (const row of await findItems(db, organizationId, ids)) {
      if (isInFeed(row)) fresh.set(row.content_id, fragments.remember(row));
    }
  }
  return entries.map(({ contentId }, index) => known[index] ?? fresh.get(contentId) ?? null);
}

/**
 * The videos of the video carousels among the entries, by the carousel's id. They are read for every
 * page: a video that may not be shown any more is left out at once, and a carousel without any is
 * absent here.
 */
async function readVideos(
  db: Db,
  fragments: Fragments,
  organizationId: OrganizationId,
  entries: readonly FeedEntry[],
): Promise<Map<string, Video[]>> {
  const carousels = entries.filter(({ contentType }) => contentType === 'video_carousel');
  if (carousels.length === 0) return new Map();
  const ids = carousels.map(({ contentId }) => contentId);
  const rows = await findCarouselVideos(db, organizationId, ids);
  const videos = rows.map((row) => ({
    id: row.content_id,
    carouselId: row.carousel_id,
    json: fragments.known(row.content_id, row.revision) ?? fragments.remember(row),
  }));
  return Map.groupBy(videos, ({ carouselId }) => carouselId);
}

/** An item up to what changes all the time, with the field `videos`. */
function withVideos(item: Buffer, videos: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [item];
  for (const video of videos) parts.push(parts.length === 1 ? videosStart : comma, video);
  return Buffer.concat([...parts, videosEnd]);
}

const videosStart = Buffer.from(',"videos":[');
const comma = Buffer.from(',');
const videosEnd = Buffer.from(']');
const noTotals: ItemTotals = { views: 0, likes: 0, shares: 0, saves: 0 };

/** Totals are one object until they change, so the bytes of what changes all the time are made once. */
const tails = new WeakMap<ItemTotals, Buffer>();

/** The fields that only the feed has, with the brace that closes the item. */
function tailOf(total: ItemTotals, live: LiveState | undefined): Buffer {
  if (live !== undefined) return makeTail(total, live);
  let bytes = tails.get(total);
  if (bytes === undefined) {
    bytes = makeTail(total, null);
    tails.set(total, bytes);
  }
  return bytes;
}

function makeTail(engagement: ItemTotals, live: LiveState | null): Buffer {
  const fields = JSON.stringify({
    isLive: live?.status === 'active',
    liveStreamId: live?.liveStreamId ?? null,
    liveStreamStatus: live?.status ?? null,
    currentViewers: live?.currentViewers ?? 0,
    engagement,
  });
  return Buffer.from(`,${fields.slice(1)}`);
}
