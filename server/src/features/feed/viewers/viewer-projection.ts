/**
 * The projection `feed-viewers`: the encounters of each viewer with each item. See encounter.ts.
 */
import type { Tx } from '../../../platform/database/database.ts';
import type { ProjectionWriter } from '../../../platform/projections/projection.ts';
import {
  erasedKeys,
  hashViewer,
  viewedContentOf,
  viewerOf,
  type EventProjection,
} from '../../analytics/analytics.ts';
import type { EventBlock, LoggedEvent } from '../../events/events.ts';
import { ViewerSecrets } from '../../organizations/organizations.ts';
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
  selectGrown,
  selectSerialNumbers,
  type AddedEncounters,
} from './viewer-queries.ts';

/** Seen items stay hidden for a month; in that time affinities decay to an eighth. */
const keptDays = 90;

export const feedViewers: EventProjection = {
  name: 'feed-viewers',
  tables: ['feed_viewer'],
  createWriter: () => new FeedViewersWriter(),
  // Processes that took events in know them already, so this need not be fresh under load.
  maxDuty: 0.15,
  async eraseViewer(tx, viewer) {
    let removed = 0;
    for (const key of await erasedKeys(tx, viewer)) removed += await deleteViewer(tx, key);
    return removed;
  },
  // `forgetItemsOfViewers` goes through all viewers, which is too much for one transaction.
  purgeItems: 'no items',
  expire: [(tx, limit) => deleteFormerViewers(tx, keptDays, limit)],
  rebuild: { from: 'log' },
};

/** By item by viewer by organization. */
type Pass = Map<string, Map<string, Map<string, Encounter>>>;

const maxRememberedItems = 50_000;

class FeedViewersWriter implements ProjectionWriter<LoggedEvent> {
  #pass: Pass = new Map();
  readonly #secrets = new ViewerSecrets();
  /** An item's serial number never changes. */
  readonly #serialNumbers = new Map<string, number>();

  collect(blocks: readonly EventBlock[]): void {
    for (const { organizationId, events } of blocks) {
      const viewers = getOrMake(this.#pass, organizationId, newMap<Map<string, Encounter>>);
      for (const event of events) {
        const viewer = viewerOf(event);
        const contentId = viewedContentOf(event);
        if (viewer === null || contentId === null) continue;
        const items = getOrMake(viewers, viewer, newMap<Encounter>);
        addEvent(getOrMake(items, contentId, emptyEncounter), event);
      }
    }
  }

  async write(tx: Tx): Promise<void> {
    const pass = this.#pass;
    this.#pass = new Map();
    await this.#secrets.load(tx, pass.keys());
    await this.#findSerialNumbers(tx, pass);
    // By key: ids can be chosen so that their hashes are equal, and a row is written only once.
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
    const folded = stored.map(({ key, bytes }) => ({
      key,
      bytes: writeEncounters(latestEncounters(readEncounters(bytes))),
    }));
    await foldEncounters(tx, folded);
  }

  forget(): void {
    this.#pass = new Map();
    // Nothing may be written for items that were permanently deleted since.
    this.#serialNumbers.clear();
  }

  async #findSerialNumbers(tx: Tx, pass: Pass): Promise<void> {
    if (this.#serialNumbers.size > maxRememberedItems) this.#serialNumbers.clear();
    const unknown = new Map<string, string>();
    for (const [organizationId, viewers] of pass) {
      for (const items of viewers.values()) {
        for (const contentId of items.keys()) {
          if (!this.#serialNumbers.has(contentId)) unknown.set(contentId, organizationId);
        }
      }
    }
    if (unknown.size === 0) return;
    const items = Array.from(unknown, ([contentId, organizationId]) => ({
      organizationId,
      contentId,
    }));
    for (const { contentId, serialNumber } of await selectSerialNumbers(tx, items)) {
      this.#serialNumbers.set(contentId, serialNumber);
    }
  }

  #addTo(encounters: Encounters, items: ReadonlyMap<string, Encounter>): void {
    for (const [contentId, encounter] of items) {
      const serialNumber = this.#serialNumbers.get(contentId);
      // The item was deleted for good.
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

function getOrMake<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

function newMap<Value>(): Map<string, Value> {
  return new Map();
}
