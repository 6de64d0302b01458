/**
 * All-time totals of items for feed pages; likes and saves are the current ones. A page must
 * neither wait for the database nor show stale numbers, so totals are cached: they count as fresh
 * up to `freshMs`, are served while being refreshed up to `usableMs`, and are waited for after
 * that. At most one statement per organization runs at a time, however many pages need it.
 */
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { readTotals, type TotalsRow } from './totals-queries.ts';

export type ItemTotals = {
  /** Plays. */
  readonly views: number;
  readonly likes: number;
  readonly shares: number;
  readonly saves: number;
};

const freshMs = 150;
const usableMs = 400;
/** While the database is down: as long as feed pages are served without it. */
const usableInOutageMs = 5_000;
const maxItemsOfOrganization = 5_000;
const maxOrganizations = 100;

/** `readAt` is when the statement was sent, so it saw everything committed before. */
type Known = { totals: ItemTotals; readAt: number };
type Reading = { readonly ids: Set<string>; readonly done: Promise<void> };
/** Per organization: known totals, the running statement, and the one queued after it. */
type Organization = {
  readonly id: OrganizationId;
  readonly known: Map<string, Known>;
  underWay: Reading | null;
  next: Reading | null;
};

const nothing: ItemTotals = { views: 0, likes: 0, shares: 0, saves: 0 };

export class ItemTotalsReader {
  readonly #db: Db;
  readonly #clock: () => number;
  readonly #organizations = new Map<OrganizationId, Organization>();

  /** @param clock monotonic, in milliseconds from any origin */
  constructor(db: Db, clock: () => number = () => performance.now()) {
    this.#db = db;
    this.#clock = clock;
  }

  /**
   * The totals of items, in order. An item's object stays the same until a number changes.
   *
   * @throws if the database is down and some totals have not been read recently
   */
  async read(organizationId: OrganizationId, contentIds: readonly string[]): Promise<ItemTotals[]> {
    const organization = this.#organization(organizationId);
    const now = this.#clock();
    const old: string[] = [];
    let oldestMs = 0;
    for (const id of contentIds) {
      const ageMs = now - (organization.known.get(id)?.readAt ?? -Infinity);
      if (ageMs > freshMs) old.push(id);
      if (ageMs > oldestMs) oldestMs = ageMs;
    }
    if (old.length > 0) {
      const reading = this.#refresh(organization, old);
      if (oldestMs > usableInOutageMs) await reading;
      else if (oldestMs > usableMs) await reading.catch(() => undefined);
    }
    return contentIds.map((id) => organization.known.get(id)?.totals ?? nothing);
  }

  #organization(id: OrganizationId): Organization {
    let organization = this.#organizations.get(id);
    if (organization === undefined) {
      organization = { id, known: new Map(), underWay: null, next: null };
      dropOldest(this.#organizations, maxOrganizations);
      this.#organizations.set(id, organization);
    }
    return organization;
  }

  /** Joins the running statement if it covers all ids, otherwise the next one. */
  #refresh(organization: Organization, ids: readonly string[]): Promise<void> {
    const { underWay } = organization;
    if (underWay !== null && ids.every((id) => underWay.ids.has(id))) return underWay.done;
    organization.next ??= this.#plan(organization);
    for (const id of ids) organization.next.ids.add(id);
    return organization.next.done;
  }

  #plan(organization: Organization): Reading {
    const ids = new Set<string>();
    const before = organization.underWay?.done ?? Promise.resolve();
    const run = async () => {
      organization.underWay = organization.next;
      organization.next = null;
      try {
        await this.#load(organization, ids);
      } finally {
        organization.underWay = null;
      }
    };
    const done = before.catch(() => undefined).then(run);
    // Pages with usable numbers don't wait for this; those that wait see the failure.
    done.catch(() => undefined);
    return { ids, done };
  }

  async #load({ id: organizationId, known }: Organization, ids: ReadonlySet<string>) {
    const readAt = this.#clock();
    const rows = await readTotals(this.#db, organizationId, [...ids]);
    const byId = new Map(rows.map((row) => [row.content_id, row]));
    for (const id of ids) {
      const totals = toTotals(byId.get(id));
      const before = known.get(id)?.totals;
      known.delete(id);
      dropOldest(known, maxItemsOfOrganization);
      const isSame = before !== undefined && areEqual(before, totals);
      known.set(id, { totals: isSame ? before : totals, readAt });
    }
  }
}

/** A Map iterates in insertion order, so its first key is the oldest. */
function dropOldest<Key>(map: Map<Key, unknown>, most: number): void {
  if (map.size < most) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

function toTotals(row: TotalsRow | undefined): ItemTotals {
  if (row === undefined) return nothing;
  return { views: row.plays, likes: row.likes, shares: row.shares, saves: row.saves };
}

function areEqual(a: ItemTotals, b: ItemTotals): boolean {
  return a.views === b.views && a.likes === b.likes && a.shares === b.shares && a.saves === b.saves;
}
