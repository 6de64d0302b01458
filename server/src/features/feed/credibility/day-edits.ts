/**
 * Edits stored days of viewers and adjusts the counts of items by the difference. A day that is
 * added or removed also changes how credible its viewer is on later days.
 */
import type { Tx } from '../../../platform/database/database.ts';
import type { Hash } from '../../analytics/analytics.ts';
import { getOrMake, newMap } from '../../../platform/values/maps.ts';
import {
  contributionsOf,
  credibilityHistoryDays,
  noContributions,
  type Contributions,
} from './credibility.ts';
import {
  changeCountries,
  updateCredibleItems,
  countColumns,
  deleteDays,
  lockDays,
  selectDays,
  upsertDays,
  type CountryChange,
  type CredibleItemChange,
  type StoredDay,
  type ViewerAndDay,
} from './credible-queries.ts';
import type { ViewerDay } from './viewer-day.ts';

/** Maps a stored day to its new state; null means no row. */
export type DayEdit = (before: ViewerDay | null) => ViewerDay | null;
export type ViewerEdits = { readonly organizationId: string; readonly days: Map<number, DayEdit> };

export async function editDays(tx: Tx, viewers: ReadonlyMap<Hash, ViewerEdits>): Promise<void> {
  if (viewers.size === 0) return;
  const edited = [...viewers.values()].flatMap(({ days }) => [...days.keys()]);
  const range = {
    first: leastOf(edited) - credibilityHistoryDays,
    last: -leastOf(edited.map((day) => -day)) + credibilityHistoryDays,
  };
  const active = new Map<Hash, Set<number>>();
  for (const { key, day } of await selectDays(tx, [...viewers.keys()], range)) {
    getOrMake(active, key, () => new Set()).add(day);
  }
  const stored = new Map<string, ViewerDay>();
  for (const { key, day, state } of await lockDays(tx, concernedDays(viewers, active))) {
    stored.set(`${key}${day}`, state);
  }
  const counts = new CountChanges();
  const written: StoredDay[] = [];
  const deleted: ViewerAndDay[] = [];
  for (const [key, { organizationId, days }] of viewers) {
    const before = active.get(key) ?? new Set();
    const after = new Set(before);
    const states = new Map<number, { before: ViewerDay | null; after: ViewerDay | null }>();
    for (const [day, edit] of days) {
      const state = stored.get(`${key}${day}`) ?? null;
      const next = edit(state === null ? null : copyOf(state));
      states.set(day, { before: state, after: next });
      if (next === null) {
        after.delete(day);
        if (state !== null) deleted.push({ key, day });
      } else {
        after.add(day);
        written.push({ key, organizationId, day, state: next });
      }
    }
    for (const day of before) {
      const state = stored.get(`${key}${day}`);
      if (state !== undefined && !states.has(day)) states.set(day, { before: state, after: state });
    }
    for (const [day, state] of states) {
      counts.add(organizationId, day, contributionsBy(state.before, before, day), -1);
      counts.add(organizationId, day, contributionsBy(state.after, after, day), 1);
    }
  }
  await upsertDays(tx, written);
  await deleteDays(tx, deleted);
  await updateCredibleItems(tx, counts.items());
  await changeCountries(tx, counts.countries());
}

/** The edited days, and those whose viewers become more or less credible as a result. */
function concernedDays(
  viewers: ReadonlyMap<Hash, ViewerEdits>,
  active: ReadonlyMap<Hash, ReadonlySet<number>>,
): ViewerAndDay[] {
  const found: ViewerAndDay[] = [];
  for (const [key, { days }] of viewers) {
    const isConcerned = (day: number) =>
      days.has(day) ||
      [...days.keys()].some((edited) => edited < day && day <= edited + credibilityHistoryDays);
    for (const day of active.get(key) ?? []) if (isConcerned(day)) found.push({ key, day });
  }
  return found;
}

function contributionsBy(
  state: ViewerDay | null,
  active: ReadonlySet<number>,
  day: number,
): Contributions {
  if (state === null) return noContributions;
  let earlier = 0;
  for (const other of active)
    if (other < day && other >= day - credibilityHistoryDays) earlier += 1;
  return contributionsOf(state, earlier);
}

function copyOf(day: ViewerDay): ViewerDay {
  const items = new Map(
    Array.from(day.items, ([serialNumber, item]) => [serialNumber, { ...item }]),
  );
  return { ...day, items };
}

function leastOf(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Infinity);
}

class CountChanges {
  readonly #items = new Map<string, Map<number, Map<number, number[]>>>();
  readonly #countries = new Map<string, CountryChange & { plays: number }>();

  add(organizationId: string, day: number, contributions: Contributions, sign: 1 | -1): void {
    const { isKnown, country } = contributions;
    const first = isKnown ? 0 : countColumns.length / 2;
    const days = getOrMake(this.#items, organizationId, newMap<number, Map<number, number[]>>);
    const items = getOrMake(days, day, newMap<number, number[]>);
    for (const { serialNumber, shown, plays, completions, reactions } of contributions.items) {
      const counts = getOrMake(items, serialNumber, () => countColumns.map(() => 0));
      for (const [index, count] of [shown, plays, completions, reactions].entries()) {
        counts[first + index] = (counts[first + index] ?? 0) + sign * count;
      }
      if (plays > 0 && country !== '') {
        const place = { organizationId, day, serialNumber, country };
        const key = `${organizationId} ${day} ${serialNumber} ${country}`;
        getOrMake(this.#countries, key, () => ({ ...place, plays: 0 })).plays += sign * plays;
      }
    }
  }

  /** Nonzero changes, in primary key order. */
  items(): CredibleItemChange[] {
    const found: CredibleItemChange[] = [];
    for (const [organizationId, days] of sorted(this.#items)) {
      for (const [day, items] of sorted(days)) {
        for (const [serialNumber, counts] of sorted(items)) {
          if (counts.some((count) => count !== 0)) {
            found.push({ organizationId, day, serialNumber, counts });
          }
        }
      }
    }
    return found;
  }

  countries(): CountryChange[] {
    return [...this.#countries.values()]
      .filter(({ plays }) => plays !== 0)
      .toSorted(
        (a, b) =>
          compare(a.organizationId, b.organizationId) ||
          a.day - b.day ||
          a.serialNumber - b.serialNumber ||
          compare(a.country, b.country),
      );
  }
}

function sorted<Key extends string | number, Value>(map: ReadonlyMap<Key, Value>): [Key, Value][] {
  return [...map].toSorted(([a], [b]) => compare(a, b));
}

function compare<Key extends string | number>(a: Key, b: Key): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
