/**
 * What viewers have done with items since the beginning, for feed pages. Likes and saves are those
 * that hold now. A page must not wait for the database, nor may its numbers be old, so they are cached:
 * up to `freshMs` they are as good as new; up to `usableMs` they are served while they are being
 * refreshed; older ones are waited for. However many pages ask, an organization has one statement under
 * way.
 */
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
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
/** While the database is away: as long as feed pages are answered without it. */
const usableInOutageMs = 5_000;
const maxItemsOfOrganization = 5_000;
const maxOrganizations = 100;

/** `readAt` is when the statement was sent: it saw everything that was committed before. */
type Known = { totals: ItemTotals; readAt: number };
type Reading = { readonly ids: Set<string>; readonly done: Promise<void> };
/** Of one organization: what is known, what is being read, and what will be right after it. */
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

  /** @param clock milliseconds from anywhere, never going back */
  constructor(db: Db, clock: () => number = () => performance.now()) {
    this.#db = db;
    this.#clock = clock;
  }

  /**
   * The totals of items, in their order. An item's object is the same until a number has changed.
   *
   * @throws when the database is away and something is not known from a moment ago
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

  /** Joins the statement that is under way, if it reads all of them, else the one after it. */
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
    // Pages that have usable numbers don't wait for it; those that wait are told of a failure.
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

/** A Map keeps the order of insertion, so the first key is the one that was stored longest ago. */
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
