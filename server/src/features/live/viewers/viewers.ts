/**
 * The projection `live`: who is watching a live stream right now. A viewer is present for 45
 * seconds after a playStart or a watchProgress. The event's time is capped at its arrival time, so
 * a fast client clock does not prolong the presence.
 */
import { LRUCache } from 'lru-cache';
import type { Tx } from '../../../platform/database/database.ts';
import type { ProjectionWriter } from '../../../platform/projections/projection.ts';
import { getOrMake } from '../../../platform/values/maps.ts';
import { hashViewer, partitionKeyOf, viewerOf } from '../../analytics/analytics.ts';
import type { EventBlock, EventProjection, LoggedEvent } from '../../events/events.ts';
import { ViewerSecrets } from '../../organizations/organizations.ts';
import {
  clearViewers,
  deleteFormerStreamViewers,
  deleteViewersOfItems,
  forgetStreamViewer,
  selectStreams,
  upsertViewers,
  type StreamViewer,
} from './viewer-queries.ts';

export const streamViewers: EventProjection = {
  name: 'live',
  tables: ['live_viewer'],
  createWriter: () => new ViewerWriter(),
  partitionKey: partitionKeyOf,
  maxDuty: 1,
  eraseViewer: forgetStreamViewer,
  purgeItems: deleteViewersOfItems,
  expire: [(tx, limit) => deleteFormerStreamViewers(tx, formerViewerSeconds, limit)],
  // The current viewers are known again within a minute, and nothing else is stored.
  rebuild: { from: 'now', clear: clearViewers },
};

const formerViewerSeconds = 300;

/** Events older than this on arrival are ignored. */
const oldestMs = 60_000;
/** While re-reading the log, blocks older than this are skipped. */
const oldestBlockMs = 10 * 60_000;

/** The viewers of an item, with the time each was last seen. */
type Item = { organizationId: string; contentId: string; lastAt: Map<string, number> };

class ViewerWriter implements ProjectionWriter<LoggedEvent> {
  /** By item; item ids are unique across organizations. */
  #pass = new Map<string, Item>();
  readonly #secrets = new ViewerSecrets();
  /** Whether an item is a live stream, which never changes. */
  readonly #isLive = new LRUCache<string, boolean>({ max: 50_000 });

  collect(blocks: readonly EventBlock[]): void {
    const now = Date.now();
    for (const { organizationId, events, receivedAt } of blocks) {
      if (receivedAt < now - oldestBlockMs) continue;
      for (const event of events) {
        if (event.event !== 'playStart' && event.event !== 'watchProgress') continue;
        const { contentId } = event;
        const at = Math.min(event.at, receivedAt);
        if (at < receivedAt - oldestMs || this.#isLive.get(contentId) === false) continue;
        const viewer = viewerOf(event);
        if (viewer === null) continue;
        const item = getOrMake(this.#pass, contentId, () => newItem(organizationId, contentId));
        item.lastAt.set(viewer, Math.max(at, item.lastAt.get(viewer) ?? 0));
      }
    }
  }

  async write(tx: Tx): Promise<void> {
    const pass = this.#pass;
    this.#pass = new Map();
    const unknown = [...pass.values()].filter(
      ({ contentId }) => this.#isLive.get(contentId) === undefined,
    );
    if (unknown.length > 0) {
      const found = await selectStreams(tx, unknown);
      const streams = new Set(found.map(({ contentId }) => contentId));
      for (const { contentId } of unknown) this.#isLive.set(contentId, streams.has(contentId));
    }
    await this.#secrets.load(tx, new Set(Array.from(pass.values(), (item) => item.organizationId)));
    // By key: two ids may share a hash, and a row can be written only once.
    const viewers = new Map<string, StreamViewer>();
    for (const { organizationId, contentId, lastAt } of pass.values()) {
      if (this.#isLive.get(contentId) !== true) continue;
      for (const [viewer, at] of lastAt) {
        const key = hashViewer(this.#secrets, organizationId, viewer);
        viewers.set(`${contentId} ${key}`, { organizationId, contentId, key, lastAt: at });
      }
    }
    await upsertViewers(tx, [...viewers.values()]);
  }

  forget(): void {
    this.#pass = new Map();
    this.#isLive.clear();
  }
}

function newItem(organizationId: string, contentId: string): Item {
  return { organizationId, contentId, lastAt: new Map() };
}
