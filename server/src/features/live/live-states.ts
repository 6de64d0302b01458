/** The live streams that feed pages show: which are live, and how many watch. */
import { LRUCache } from 'lru-cache';
import type { Db } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import { countLiveViewers } from '../analytics/analytics.ts';
import { findActive, findByContent, type ShownStream } from './queries.ts';

export type LiveState = {
  readonly liveStreamId: string;
  readonly status: 'idle' | 'active' | 'ended';
  readonly currentViewers: number;
};

export type LiveStreams = {
  /** The streams that are active, by the ids of their items. */
  active(organizationId: OrganizationId): Promise<ReadonlyMap<string, LiveState>>;
  /** The streams of these items, whatever their state. */
  ofItems(
    organizationId: OrganizationId,
    contentIds: readonly string[],
  ): Promise<ReadonlyMap<string, LiveState>>;
};

/** So old may a page's numbers be. All pages of that time share one reading. */
const activeForMs = 250;
/** A page does not wait longer for them than this, and shows the ones before. */
const patienceMs = 50;
const maxOrganizations = 10_000;
const maxEnded = 50_000;

type States = ReadonlyMap<string, LiveState>;
type Reading = { latest: States; readAtMs: number; reading: Promise<States> | null };

export class LiveStates implements LiveStreams {
  readonly #db: Db;
  readonly #active = new LRUCache<string, Reading>({ max: maxOrganizations });
  /** Ended streams stay as they are. */
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
    contentIds: readonly string[],
  ): Promise<ReadonlyMap<string, LiveState>> {
    if (contentIds.length === 0) return none;
    const active = await this.active(organizationId);
    const found = new Map<string, LiveState>();
    for (const id of contentIds) {
      const state = active.get(id) ?? this.#ended.get(id);
      if (state !== undefined) found.set(id, state);
    }
    const unknown = contentIds.filter((id) => !found.has(id));
    if (unknown.length === 0) return found;
    // Without the database they are shown as what they are besides: videos.
    const streams = await findByContent(this.#db, organizationId, unknown).catch(() => []);
    for (const stream of streams) {
      const state = stateOf(stream, 0);
      if (stream.status === 'ended') this.#ended.set(stream.contentId, state);
      found.set(stream.contentId, state);
    }
    return found;
  }

  /** Without the database the states stay as they were: feed pages are served from memory. */
  async #refresh(organizationId: OrganizationId, known: Reading): Promise<States> {
    try {
      known.latest = await this.#readActive(organizationId);
      known.readAtMs = performance.now();
    } catch {
      // The next page tries again.
    } finally {
      known.reading = null;
    }
    return known.latest;
  }

  async #readActive(organizationId: OrganizationId): Promise<ReadonlyMap<string, LiveState>> {
    const streams = await findActive(this.#db, organizationId);
    if (streams.length === 0) return none;
    const ids = streams.map(({ contentId }) => contentId);
    const viewers = await countLiveViewers(this.#db, organizationId, ids);
    return new Map(
      streams.map((stream) => [
        stream.contentId,
        stateOf(stream, viewers.get(stream.contentId) ?? 0),
      ]),
    );
  }

  /** Forgets which streams are active, so that a change of this process counts at once. */
  forget(): void {
    for (const known of this.#active.values()) known.readAtMs = -Infinity;
  }
}

/** What a reading gives, or the states before it when it takes too long. */
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
