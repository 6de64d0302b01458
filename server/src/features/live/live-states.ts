/** The live streams on feed pages: which are live, and their viewer counts. */
import { LRUCache } from 'lru-cache';
import type { Db } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { countStreamViewers } from './viewers/count-viewers.ts';
import { findActive, findByContent, type ShownStream } from './queries.ts';

export type LiveState = {
  readonly liveStreamId: string;
  readonly status: 'idle' | 'active' | 'ended';
  readonly currentViewers: number;
};

type TypedItem = { readonly contentId: string; readonly contentType: string };

export type LiveStreams = {
  active(organizationId: OrganizationId): Promise<ReadonlyMap<string, LiveState>>;
  /** The states of those items that are live streams. */
  ofItems(
    organizationId: OrganizationId,
    items: readonly TypedItem[],
  ): Promise<ReadonlyMap<string, LiveState>>;
};

/** Maximum age of a page's numbers. All pages within that time share one read. */
const activeForMs = 250;
/** A page waits at most this long, then uses the previous numbers. */
const patienceMs = 50;
const maxOrganizations = 10_000;
const maxEnded = 50_000;

type States = ReadonlyMap<string, LiveState>;
type Reading = { latest: States; readAtMs: number; reading: Promise<States> | null };

export class LiveStates implements LiveStreams {
  readonly #db: Db;
  readonly #active = new LRUCache<string, Reading>({ max: maxOrganizations });
  /** Ended streams never change. */
  readonly #ended = new LRUCache<string, LiveState>({ max: maxEnded });

  constructor(db: Db) {
    this.#db = db;
  }

  async active(organizationId: OrganizationId): Promise<States> {
    let known = this.#active.get(organizationId);
    if (known === undefined) {
      known = { latest: none, readAtMs: -Infinity, reading: null };
      this.#active.set(organizationId, known);
    }
    if (performance.now() - known.readAtMs < activeForMs) return known.latest;
    known.reading ??= this.#refresh(organizationId, known);
    return inTime(known.reading, known);
  }

  async ofItems(
    organizationId: OrganizationId,
    items: readonly TypedItem[],
  ): Promise<ReadonlyMap<string, LiveState>> {
    const contentIds = items.flatMap(({ contentId, contentType }) =>
      contentType === 'live_stream' ? [contentId] : [],
    );
    if (contentIds.length === 0) return none;
    const active = await this.active(organizationId);
    const found = new Map<string, LiveState>();
    for (const id of contentIds) {
      const state = active.get(id) ?? this.#ended.get(id);
      if (state !== undefined) found.set(id, state);
    }
    const unknown = contentIds.filter((id) => !found.has(id));
    if (unknown.length === 0) return found;
    // If the database is unavailable, they are shown as plain videos.
    const streams = await findByContent(this.#db, organizationId, unknown).catch(() => []);
    for (const stream of streams) {
      const state = stateOf(stream, 0);
      if (stream.status === 'ended') this.#ended.set(stream.contentId, state);
      found.set(stream.contentId, state);
    }
    return found;
  }

  /** Keeps the previous states if the database is unavailable: pages are served from memory. */
  async #refresh(organizationId: OrganizationId, known: Reading): Promise<States> {
    try {
      known.latest = await this.#readActive(organizationId);
      known.readAtMs = performance.now();
    } catch {
      // The next page retries.
    } finally {
      known.reading = null;
    }
    return known.latest;
  }

  async #readActive(organizationId: OrganizationId): Promise<ReadonlyMap<string, LiveState>> {
    const streams = await findActive(this.#db, organizationId);
    if (streams.length === 0) return none;
    const ids = streams.map(({ contentId }) => contentId);
    const viewers = await countStreamViewers(this.#db, organizationId, ids);
    return new Map(
      streams.map((stream) => [
        stream.contentId,
        stateOf(stream, viewers.get(stream.contentId) ?? 0),
      ]),
    );
  }

  /** Invalidates the active streams, so that a change by this process takes effect immediately. */
  forget(): void {
    for (const known of this.#active.values()) known.readAtMs = -Infinity;
  }
}

/** The result of a read, or the previous states if it takes too long. */
async function inTime(reading: Promise<States>, known: Reading): Promise<States> {
  const { promise: tooLate, resolve } = Promise.withResolvers<States>();
  const timer = setTimeout(() => resolve(known.latest), patienceMs);
  try {
    return await Promise.race([reading, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

const none: ReadonlyMap<string, LiveState> = new Map();

function stateOf({ liveStreamId, status }: ShownStream, currentViewers: number): LiveState {
  return { liveStreamId, status, currentViewers };
}
