import { LRUCache } from 'lru-cache';
import { byDeadline } from '../../platform/async/by-deadline.ts';
import { isDatabaseAway } from '../../platform/database/database-errors.ts';
import type { Db } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import type { ItemTotals, ItemTotalsReader } from '../analytics/analytics.ts';
import { findItems, type ItemRow, type MediaUrls } from '../content/content.ts';
import {
  findCarouselVideos,
  isInFeed,
  presentPublicItem,
} from '../content/feed-items/feed-items.ts';
import type { FeedEntry } from './items/feed-entry.ts';
import { KnownTotals } from './known-totals.ts';
import type { LiveState } from '../live/live.ts';

/** Enough for the JSON of some 20,000 items. */
const maxKeptBytes = 48 * 1024 * 1024;
/** Items contain signed URLs that are valid for a few hours, so old JSON is not reused. */
const maxAgeMs = 3_600_000;

/** The JSON of an item as bytes: the stable part, and the volatile part with the closing brace. */
export type FeedItemJson = { readonly item: Buffer; readonly engagement: Buffer };

type Fragment = { revision: number; json: Buffer; madeAtMs: number };

export type HydrationRequest = {
  readonly organizationId: OrganizationId;
  readonly entries: readonly FeedEntry[];
  readonly live: ReadonlyMap<string, LiveState>;
  /** Deadline for reading the database, on the clock of `performance.now`. */
  readonly deadline: number;
  /** Deadline for refreshing numbers that are already known. */
  readonly numbersDeadline: number;
};

/**
 * Null for an item that may no longer be shown, undefined for one that could not be read in time.
 */
export type Hydrated = readonly (FeedItemJson | null | undefined)[];

export type Hydrator = {
  read(request: HydrationRequest): Promise<Hydrated>;
  /** The JSON of an item, even if it is not in the feed. */
  readOne(
    organizationId: OrganizationId,
    row: ItemRow,
    live: LiveState | undefined,
  ): Promise<Buffer>;
  /** Whether the JSON of an entry is in memory. */
  knows(entry: FeedEntry): boolean;
};

type Parts = { db: Db; fragments: Fragments; totals: KnownTotals; reader: ItemTotalsReader };

/**
 * Caches items and carousel videos as JSON bytes by revision, so a page of known items reads and
 * serializes nothing. All unknown items of a page are read in one statement. A video in a carousel
 * has every field of a feed item.
 */
export function createHydrator(db: Db, urls: MediaUrls, reader: ItemTotalsReader): Hydrator {
  const fragments = new Fragments(urls);
  const parts = { db, fragments, totals: new KnownTotals(reader), reader };
  return {
    knows: (entry) =>
      entry.contentType !== 'video_carousel' &&
      fragments.known(entry.contentId, entry.revision) !== null,
    read: (request) => hydrate(parts, request),
    async readOne(organizationId, row, live) {
      const item = Buffer.from(JSON.stringify(presentPublicItem(row, urls)).slice(0, -1));
      const entry = { contentId: row.content_id, contentType: row.content_type };
      const [[numbers], carousels] = await Promise.all([
        reader.read(organizationId, [row.content_id]),
        readCarousels(db, fragments, reader, organizationId, [entry], Infinity),
      ]);
      const tail = tailOf(numbers ?? noTotals, live);
      const videos = carousels?.get(row.content_id);
      return Buffer.concat([videos === undefined ? item : withVideos(item, videos), tail]);
    },
  };
}

async function hydrate(
  { db, fragments, totals, reader }: Parts,
  { organizationId, entries, live, deadline, numbersDeadline }: HydrationRequest,
): Promise<Hydrated> {
  const areNumbersKnown = entries.every((entry) => totals.knows(entry));
  const [items, carousels, numbers] = await Promise.all([
    readItems(db, fragments, organizationId, entries, deadline),
    readCarousels(db, fragments, reader, organizationId, entries, deadline),
    totals.read(organizationId, entries, areNumbersKnown ? numbersDeadline : deadline),
  ]);
  return entries.map(({ contentId, contentType }, index) => {
    const item = items[index];
    if (item === null || item === undefined) return item;
    const engagement = tailOf(numbers[index] ?? noTotals, live.get(contentId));
    if (contentType !== 'video_carousel') return { item, engagement };
    if (carousels === null) return undefined;
    const videos = carousels.get(contentId);
    return videos === undefined ? null : { item: withVideos(item, videos), engagement };
  });
}

/** The stable part of items' JSON. */
class Fragments {
  readonly #urls: MediaUrls;
  readonly #kept = new LRUCache<string, Fragment>({
    maxSize: maxKeptBytes,
    sizeCalculation: ({ json }) => json.length + 500,
  });

  constructor(urls: MediaUrls) {
    this.#urls = urls;
  }

  /** The cached item, if it has at least this revision and is not too old. */
  known(contentId: string, revision: number): Buffer | null {
    const fragment = this.#kept.get(contentId);
    if (fragment === undefined || fragment.revision < revision) return null;
    return fragment.madeAtMs < Date.now() - maxAgeMs ? null : fragment.json;
  }

  remember(row: ItemRow): Buffer {
    const json = Buffer.from(JSON.stringify(presentPublicItem(row, this.#urls)).slice(0, -1));
    this.#kept.set(row.content_id, { revision: row.revision, json, madeAtMs: Date.now() });
    return json;
  }
}

/**
 * The items of the entries, in order. An item that has left the feed gives null: its row may be
 * newer than its entry, and an item that has become private must not be presented with signed URLs.
 * An item that cannot be read in time gives undefined.
 */
async function readItems(
  db: Db,
  fragments: Fragments,
  organizationId: OrganizationId,
  entries: readonly FeedEntry[],
  deadline: number,
): Promise<(Buffer | null | undefined)[]> {
  const known = entries.map(({ contentId, revision }) => fragments.known(contentId, revision));
  const missing = entries.filter((_entry, index) => known[index] === null);
  if (missing.length === 0) return known;
  const ids = missing.map(({ contentId }) => contentId);
  const rows = await inTime(findItems(db, organizationId, ids), deadline);
  if (rows === null) return known.map((json) => json ?? undefined);
  const fresh = new Map<string, Buffer>();
  for (const row of rows) if (isInFeed(row)) fresh.set(row.content_id, fragments.remember(row));
  return entries.map(({ contentId }, index) => known[index] ?? fresh.get(contentId) ?? null);
}

/**
 * The JSON of the videos in the carousels among the entries, by carousel id. Read for every page,
 * so that a video that may no longer be shown disappears at once. A carousel without videos is
 * missing. Null if they cannot be read in time.
 */
async function readCarousels(
  db: Db,
  fragments: Fragments,
  totals: ItemTotalsReader,
  organizationId: OrganizationId,
  entries: readonly Pick<FeedEntry, 'contentId' | 'contentType'>[],
  deadline: number,
): Promise<Map<string, Buffer[]> | null> {
  const carousels = entries.filter(({ contentType }) => contentType === 'video_carousel');
  if (carousels.length === 0) return new Map();
  const ids = carousels.map(({ contentId }) => contentId);
  const rows = await inTime(findCarouselVideos(db, organizationId, ids), deadline);
  if (rows === null) return null;
  const videoIds = [...new Set(rows.map((row) => row.content_id))];
  const numbers = await inTime(totals.read(organizationId, videoIds), deadline);
  const byId = new Map(videoIds.map((id, index) => [id, numbers?.[index] ?? noTotals]));
  const jsonOf = (row: ItemRow) =>
    fragments.known(row.content_id, row.revision) ?? fragments.remember(row);
  return new Map(
    Array.from(
      Map.groupBy(rows, (row) => row.carousel_id),
      ([id, videos]) => [
        id,
        videos.map((row) =>
          Buffer.concat([jsonOf(row), tailOf(byId.get(row.content_id) ?? noTotals, undefined)]),
        ),
      ],
    ),
  );
}

/** Null if the database does not respond in time, or at all. */
async function inTime<T>(reading: Promise<T>, deadline: number): Promise<T | null> {
  try {
    return await byDeadline(reading, deadline);
  } catch (error) {
    if (isDatabaseAway(error)) return null;
    throw error;
  }
}

/** The stable part of an item, plus the field `videos`. */
function withVideos(item: Buffer, videos: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [item];
  for (const video of videos) parts.push(parts.length === 1 ? videosStart : comma, video);
  return Buffer.concat([...parts, videosEnd]);
}

const videosStart = Buffer.from(',"videos":[');
const comma = Buffer.from(',');
const videosEnd = Buffer.from(']');
const noTotals: ItemTotals = { views: 0, likes: 0, shares: 0, saves: 0 };

/** A totals object stays the same until a number changes, so its bytes are built once. */
const tails = new WeakMap<ItemTotals, Buffer>();

/** The feed-only fields, with the brace that closes the item. */
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
