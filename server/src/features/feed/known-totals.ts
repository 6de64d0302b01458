/**
 * Caches totals of items for pages. An item without events keeps its totals, so they are read again
 * early only after a relevant event. Reading every item of every page took a quarter of the page's
 * cost.
 */
import { byDeadline } from '../../platform/async/by-deadline.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import type { ItemTotals, ItemTotalsReader } from '../analytics/analytics.ts';
import type { FeedEntry } from './items/feed-entry.ts';

/**
 * The projection has written an event by this long after its arrival; until then, the item is read
 * again.
 */
const settlingMs = 3_000;
/** Interval for re-reading settled totals, to catch rebuilds, erasures and missed events. */
const settledForMs = 3_000;

type Known = { readonly totals: ItemTotals; readonly readAt: number };

export class KnownTotals {
  readonly #reader: ItemTotalsReader;
  readonly #known = new WeakMap<FeedEntry, Known>();

  constructor(reader: ItemTotalsReader) {
    this.#reader = reader;
  }

  /**
   * The totals of entries, in order. Numbers not read by the deadline are the last known ones, or
   * null.
   */
  async read(
    organizationId: OrganizationId,
    entries: readonly FeedEntry[],
    deadline: number,
  ): Promise<(ItemTotals | null)[]> {
    const now = performance.now();
    const unsettled = entries.filter((entry) => !this.#isSettled(entry, now));
    if (unsettled.length > 0) await this.#refresh(organizationId, unsettled, now, deadline);
    return entries.map((entry) => this.#known.get(entry)?.totals ?? null);
  }

  /** Whether any totals of the entry are known, however old. */
  knows(entry: FeedEntry): boolean {
    return this.#known.has(entry);
  }

  #isSettled(entry: FeedEntry, now: number): boolean {
    const known = this.#known.get(entry);
    return (
      known !== undefined &&
      now - known.readAt < settledForMs &&
      known.readAt - entry.countedAt > settlingMs
    );
  }

  async #refresh(
    organizationId: OrganizationId,
    entries: readonly FeedEntry[],
    now: number,
    deadline: number,
  ): Promise<void> {
    const ids = entries.map(({ contentId }) => contentId);
    // While the database is down, the last known numbers are used.
    const reading = this.#reader.read(organizationId, ids).catch(() => null);
    const totals = await byDeadline(reading, deadline);
    for (const [index, entry] of entries.entries()) {
      const one = totals?.[index];
      if (one !== undefined) this.#known.set(entry, { totals: one, readAt: now });
    }
  }
}
