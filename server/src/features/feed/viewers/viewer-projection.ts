/**
 * The projection `feed-viewers`: the encounters of each viewer with each item. See encounter.ts.
 */
import type { Tx } from '../../../platform/database/database.ts';
import type { ProjectionWriter } from '../../../platform/projections/projection.ts';
import {
  erasedKeys,
  hashViewer,
  partitionKeyOf,
  viewedContentOf,
  viewerOf,
  type EventProjection,
  type Hash,
} from '../../analytics/analytics.ts';
import type { EventBlock, LoggedEvent } from '../../events/events.ts';
import { markStale } from '../taste/taste-queries.ts';
import { ViewerSecrets } from '../../organizations/organizations.ts';
import { getOrMake, newMap } from '../../../platform/values/maps.ts';
import { SerialNumbers } from '../serial-numbers.ts';
import {
  addEvent,
  emptyEncounter,
  latestEncounters,
  mergeEncounter,
  readEncounters,
  writeEncounters,
  type Encounter,
  type Encounters,
} from './encounter.ts';
import {
  appendEncounters,
  deleteFormerViewers,
  deleteViewer,
  foldEncounters,
  lockUnfolded,
  selectGrown,
  type AddedEncounters,
} from './viewer-queries.ts';

/** Seen items stay hidden for a month; within this time affinities decay to an eighth. */
const keptDays = 90;
/** A viewer without an event for this long is idle. */
const restMinutes = 2;

export const feedViewers: EventProjection = {
  name: 'feed-viewers',
  tables: ['feed_viewer'],
  createWriter: () => new FeedViewersWriter(),
  partitionKey: partitionKeyOf,
  // The process that received an event knows it already, so this projection may lag under load.
  maxDuty: 0.15,
  async eraseViewer(tx, viewer) {
    let removed = 0;
    for (const key of await erasedKeys(tx, viewer)) removed += await deleteViewer(tx, key);
    await markStale(tx, viewer.organizationId);
    return removed;
  },
  // `forgetItemsOfViewers` scans all viewers, which is too much for one transaction.
  purgeItems: 'no items',
  expire: [
    (tx, limit) => deleteFormerViewers(tx, keptDays, limit),
    (tx, limit) => foldViewers(tx, restMinutes, limit),
  ],
  rebuild: { from: 'log', settle: (tx, limit) => foldViewers(tx, 0, limit) },
};

/**
 * Folds the encounters of idle viewers. The layout of an unfolded row depends on the passes that
 * wrote it; a folded row depends only on the events, so it is the same after a rebuild.
 *
 * @returns the number of viewers, at most `limit`
 */
async function foldViewers(tx: Tx, minutes: number, limit: number): Promise<number> {
  const viewers = await lockUnfolded(tx, minutes, limit);
  if (viewers.length > 0) await foldEncounters(tx, viewers.map(toFolded));
  return viewers.length;
}

function toFolded({ key, bytes }: { key: Hash; bytes: Buffer }): { key: Hash; bytes: Buffer } {
  return { key, bytes: writeEncounters(latestEncounters(readEncounters(bytes))) };
}

/** By organization, viewer and item. */
type Pass = Map<string, Map<string, Map<string, Encounter>>>;

class FeedViewersWriter implements ProjectionWriter<LoggedEvent> {
  #pass: Pass = new Map();
  readonly #secrets = new ViewerSecrets();
  readonly #serialNumbers = new SerialNumbers();

  collect(blocks: readonly EventBlock[]): void {
    for (const { organizationId, events } of blocks) {
      const viewers = getOrMake(this.#pass, organizationId, newMap<string, Map<string, Encounter>>);
      for (const event of events) {
        const viewer = viewerOf(event);
        const contentId = viewedContentOf(event);
        if (viewer === null || contentId === null) continue;
        const items = getOrMake(viewers, viewer, newMap<string, Encounter>);
        addEvent(getOrMake(items, contentId, emptyEncounter), event);
      }
    }
  }

  async write(tx: Tx): Promise<void> {
    const pass = this.#pass;
    this.#pass = new Map();
    await this.#secrets.load(tx, pass.keys());
    await this.#serialNumbers.load(tx, itemsOf(pass));
    // By key: ids can be chosen so that their hashes collide, and a row is written only once.
    const added = new Map<string, Encounters>();
    const organizations = new Map<string, string>();
    for (const [organizationId, viewers] of pass) {
      for (const [viewer, items] of viewers) {
        const key = hashViewer(this.#secrets, organizationId, viewer);
        organizations.set(key, organizationId);
        this.#addTo(
          getOrMake(added, key, () => new Map()),
          items,
        );
      }
    }
    const grown = await appendEncounters(tx, toRows(added, organizations));
    if (grown.length === 0) return;
    const stored = await selectGrown(tx, grown);
    await foldEncounters(tx, stored.map(toFolded));
  }

  forget(): void {
    this.#pass = new Map();
    this.#serialNumbers.clear();
  }

  #addTo(encounters: Encounters, items: ReadonlyMap<string, Encounter>): void {
    for (const [contentId, encounter] of items) {
      const serialNumber = this.#serialNumbers.of(contentId);
      // The item was permanently deleted.
      if (serialNumber === undefined) continue;
      const before = encounters.get(serialNumber);
      if (before === undefined) encounters.set(serialNumber, encounter);
      else mergeEncounter(before, encounter);
    }
  }
}

function toRows(
  added: ReadonlyMap<string, Encounters>,
  organizations: ReadonlyMap<string, string>,
): AddedEncounters[] {
  const rows: AddedEncounters[] = [];
  for (const [key, encounters] of added) {
    if (encounters.size === 0) continue;
    const latest = latestEncounters(encounters);
    const lastSecond = latest[0]?.[1].second ?? 0;
    const organizationId = organizations.get(key) ?? '';
    rows.push({ key, organizationId, lastSecond, bytes: writeEncounters(latest) });
  }
  return rows;
}

function* itemsOf(pass: Pass): Generator<readonly [string, string]> {
  for (const [organizationId, viewers] of pass) {
    for (const items of viewers.values()) {
      for (const contentId of items.keys()) yield [contentId, organizationId];
    }
  }
}
