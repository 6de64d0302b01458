import { LRUCache } from 'lru-cache';
import type { Db } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { contentTraits, findItems, type ItemRow } from '../content/content.ts';
import { announced, isPlayable } from '../content/feed-items/feed-items.ts';
import type { FeedParts } from './feed.ts';

export type ShownItem = { readonly row: ItemRow; readonly json: Buffer };

type Parts = Pick<FeedParts, 'hydrator' | 'liveStreams'> & { db: Db };

/** The maximum age of a live stream's state as shown to viewers. */
const sharedForMs = 1_000;
const maxStreams = 10_000;

/**
 * Reads one item for viewers. Players poll the item of a broadcast, so all viewers of a process
 * share one reading of it; other items are read for each request.
 */
export class ShownItems {
  readonly #parts: Parts;
  readonly #streams = new LRUCache<string, true>({ max: maxStreams });
  readonly #shared = new LRUCache<string, Promise<ShownItem | null>>({
    max: maxStreams,
    ttl: sharedForMs,
  });

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Null if the item does not exist or is currently hidden from viewers. */
  async read(organizationId: OrganizationId, contentId: string): Promise<ShownItem | null> {
    const name = `${organizationId} ${contentId}`;
    if (!this.#streams.has(name)) return this.#readNow(organizationId, contentId, name);
    const known = this.#shared.get(name);
    if (known !== undefined) return known;
    const reading = this.#readNow(organizationId, contentId, name);
    this.#shared.set(name, reading);
    reading.catch(() => this.#shared.delete(name));
    return reading;
  }

  async #readNow(
    organizationId: OrganizationId,
    contentId: string,
    name: string,
  ): Promise<ShownItem | null> {
    const [row] = await findItems(this.#parts.db, organizationId, [contentId]);
    if (row !== undefined && contentTraits[row.content_type].isPolled)
      this.#streams.set(name, true);
    else this.#streams.delete(name);
    return row === undefined ? null : this.#present(organizationId, row);
  }

  async #present(organizationId: OrganizationId, row: ItemRow): Promise<ShownItem | null> {
    const { db, hydrator, liveStreams } = this.#parts;
    const nowMs = Date.now();
    if (isPlayable(row, nowMs)) {
      return { row, json: await presentFeedItem(this.#parts, organizationId, row) };
    }
    const announcement = await announced(db, organizationId, row, nowMs);
    if (announcement === null) return null;
    const streams = await liveStreams.ofItems(organizationId, [typed(row)]);
    const stream = streams.get(row.content_id);
    if (stream === undefined || stream.status === 'ended') return null;
    // It may be live already, but for viewers it begins when the item is due.
    const state = { ...stream, status: 'idle' as const, currentViewers: 0 };
    return { row, json: await hydrator.readOne(organizationId, announcement, state) };
  }
}

export async function presentFeedItem(
  { hydrator, liveStreams }: Parts,
  organizationId: OrganizationId,
  row: ItemRow,
): Promise<Buffer> {
  const streams = await liveStreams.ofItems(organizationId, [typed(row)]);
  return hydrator.readOne(organizationId, row, streams.get(row.content_id));
}

const typed = (row: ItemRow) => ({ contentId: row.content_id, contentType: row.content_type });
