/**
 * The projection `feed-items`: what credible viewers did with items, for ranking. A viewer counts
 * once per item, kind and day, however many events arrive. See credibility.ts and viewer-day.ts.
 */
import { inTransaction, type Db, type Tx } from '../../../platform/database/database.ts';
import type { DeletedItem, Viewer } from '../../../platform/feature/feature.ts';
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
import { ViewerSecrets } from '../../organizations/organizations.ts';
import { getOrMake, newMap } from '../../../platform/values/maps.ts';
import { SerialNumbers } from '../serial-numbers.ts';
import {
  deleteItemCounts,
  expireAfter,
  keepEarlierDays,
  lockDaysAfter,
  selectDays,
  type ViewerAndDay,
} from './credible-queries.ts';
import { editDays, type DayEdit, type ViewerEdits } from './day-edits.ts';
import {
  addDayEvent,
  addViewerFacts,
  dayNumberOf,
  emptyDay,
  emptyDayItem,
  isCountedKind,
  mergeDay,
  mergeItem,
  namesItem,
  type DayItem,
  type ViewerDay,
} from './viewer-day.ts';

/** Earlier days make a viewer credible, so days are kept longer than counts are used. */
const keptDays = 30;
const keptCountDays = 16;

export const feedItems: EventProjection = {
  name: 'feed-items',
  tables: ['feed_viewer_day', 'feed_item_day', 'feed_item_country'],
  createWriter: () => new FeedItemsWriter(),
  partitionKey: partitionKeyOf,
  maxDuty: 0.25,
  eraseViewer,
  // `forgetItemsOfDays` scans all viewers, which is too much for one transaction.
  purgeItems: 'no items',
  expire: [
    expireAfter('feed_viewer_day', keptDays),
    expireAfter('feed_item_day', keptCountDays),
    expireAfter('feed_item_country', keptCountDays),
  ],
  rebuild: { from: 'log', carryOver: keepEarlierDays },
};

/** A day before its viewer is hashed and its items have serial numbers. */
type PassDay = { readonly facts: ViewerDay; readonly items: Map<string, DayItem> };
/** By organization, viewer and day. */
type Pass = Map<string, Map<string, Map<number, PassDay>>>;

class FeedItemsWriter implements ProjectionWriter<LoggedEvent> {
  #pass: Pass = new Map();
  readonly #secrets = new ViewerSecrets();
  readonly #serialNumbers = new SerialNumbers();

  collect(blocks: readonly EventBlock[]): void {
    const firstDay = dayNumberOf(Date.now()) - keptDays;
    for (const { organizationId, events } of blocks) {
      const viewers = getOrMake(this.#pass, organizationId, newMap<string, Map<number, PassDay>>);
      for (const event of events) {
        if (!isCountedKind(event.event)) continue;
        const day = dayNumberOf(event.at);
        const viewer = viewerOf(event);
        const contentId = viewedContentOf(event);
        if (viewer === null || contentId === null || day < firstDay) continue;
        const days = getOrMake(viewers, viewer, newMap<number, PassDay>);
        const { facts, items } = getOrMake(days, day, emptyPassDay);
        addViewerFacts(facts, event);
        addDayEvent(getOrMake(items, contentId, emptyDayItem), event);
      }
    }
  }

  async write(tx: Tx): Promise<void> {
    const pass = this.#pass;
    this.#pass = new Map();
    await this.#secrets.load(tx, pass.keys());
    await this.#serialNumbers.load(tx, itemsOf(pass));
    const edits = new Map<Hash, ViewerEdits>();
    for (const [organizationId, viewers] of pass) {
      for (const [viewer, days] of viewers) {
        const key = hashViewer(this.#secrets, organizationId, viewer);
        const own = getOrMake(edits, key, () => noEdits(organizationId));
        for (const [day, { facts, items }] of days) {
          this.#addItems(facts, items);
          const former = own.days.get(day);
          own.days.set(day, (before) => {
            const merged = former?.(before) ?? before ?? emptyDay();
            mergeDay(merged, facts);
            return merged;
          });
        }
      }
    }
    await editDays(tx, edits);
  }

  forget(): void {
    this.#pass = new Map();
    this.#serialNumbers.clear();
  }

  #addItems(day: ViewerDay, items: ReadonlyMap<string, DayItem>): void {
    for (const [contentId, item] of items) {
      const serialNumber = this.#serialNumbers.of(contentId);
      // An item without a serial number was permanently deleted.
      if (serialNumber !== undefined) mergeItem(day.items, serialNumber, item);
    }
  }
}

function emptyPassDay(): PassDay {
  return { facts: emptyDay(), items: new Map() };
}

function noEdits(organizationId: string): ViewerEdits {
  return { organizationId, days: new Map<number, DayEdit>() };
}

function* itemsOf(pass: Pass): Generator<readonly [string, string]> {
  for (const [organizationId, viewers] of pass) {
    for (const days of viewers.values()) {
      for (const { items } of days.values()) {
        for (const contentId of items.keys()) yield [contentId, organizationId];
      }
    }
  }
}

/**
 * Also subtracts the viewer's activity from the counts, because it is no longer in the log either.
 */
async function eraseViewer(tx: Tx, viewer: Viewer): Promise<number> {
  const keys = (await erasedKeys(tx, viewer)).map((key) => key.toString('latin1'));
  const days = await selectDays(tx, keys, everyDay);
  const edits = new Map<Hash, ViewerEdits>();
  for (const { key, day } of days) {
    const { organizationId } = viewer;
    getOrMake(edits, key, () => noEdits(organizationId)).days.set(day, () => null);
  }
  await editDays(tx, edits);
  return days.length;
}

const everyDay = { first: 0, last: 1_000_000 };
const daysAtOnce = 2_000;

/**
 * Removes permanently deleted items from viewers' days, and deletes their counts. Call it once
 * neither the event log nor what the projection has read refers to the items.
 */
export async function forgetItemsOfDays(
  db: Db,
  items: readonly DeletedItem[],
  signal: AbortSignal,
): Promise<void> {
  const organizationIds = [...new Set(items.map(({ organizationId }) => organizationId))];
  const serialNumbers = new Set(items.map(({ serialNumber }) => serialNumber));
  let after: ViewerAndDay | null = { key: '', day: 0 };
  while (after !== null) {
    signal.throwIfAborted();
    const from: ViewerAndDay = after;
    after = await inTransaction(db, async (tx) => {
      const page = { after: from, limit: daysAtOnce };
      const rows = await lockDaysAfter(tx, organizationIds, page);
      const edits = new Map<Hash, ViewerEdits>();
      for (const { stored, bytes } of rows) {
        if (!namesItem(bytes, serialNumbers)) continue;
        const { key, organizationId, day } = stored;
        const own = getOrMake(edits, key, () => noEdits(organizationId));
        own.days.set(day, (before) => {
          for (const serialNumber of serialNumbers) before?.items.delete(serialNumber);
          return before;
        });
      }
      await editDays(tx, edits);
      return rows.length < daysAtOnce ? null : (rows.at(-1)?.stored ?? null);
    });
  }
  await inTransaction(db, (tx) => deleteItemCounts(tx, items));
}
