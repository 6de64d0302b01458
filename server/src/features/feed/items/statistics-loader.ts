/** Loads the counts of an organization's items into its index. */
import { setImmediate } from 'node:timers/promises';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import {
  readCountries,
  readItemCountries,
  readItemCounts,
  type CountryPlays,
  type ItemCounts,
  type DaySpan,
} from '../credibility/count-queries.ts';
import { dayNumberOf } from '../credibility/viewer-day.ts';
import type { FeedItemStatistics } from './item-statistics.ts';

const wholePast: DaySpan = { first: 0, end: 1_000_000 };

/** Reads everything. @returns the first of the days that `loadRecent` reads from now on */
export async function loadStatistics(
  db: Db,
  organizationId: OrganizationId,
  statistics: FeedItemStatistics,
): Promise<number> {
  // Events of yesterday may still arrive, because events are accepted for a day.
  const recentFrom = dayNumberOf(Date.now()) - 1;
  const earlier = { ...wholePast, end: recentFrom };
  statistics.load('earlier', await readAll(db, organizationId, earlier));
  await loadRecent(db, organizationId, statistics, recentFrom);
  await loadCountries(db, organizationId, statistics);
  return recentFrom;
}

/** Reads the days that may still change. */
export async function loadRecent(
  db: Db,
  organizationId: OrganizationId,
  statistics: FeedItemStatistics,
  from: number,
): Promise<void> {
  const recent = { ...wholePast, first: from };
  statistics.load('recent', await readAll(db, organizationId, recent));
}

async function readAll(
  db: Db,
  organizationId: OrganizationId,
  span: DaySpan,
): Promise<ItemCounts[]> {
  const all: ItemCounts[] = [];
  await readItemCounts(db, organizationId, span, async (rows) => {
    for (const row of rows) all.push(row);
    // Yields, so that requests of this process don't wait for all of it.
    await setImmediate();
  });
  return all;
}

async function loadCountries(
  db: Db,
  organizationId: OrganizationId,
  statistics: FeedItemStatistics,
): Promise<void> {
  const [all, items] = await Promise.all([
    readCountries(db, organizationId),
    readItemCountries(db, organizationId),
  ]);
  const byItem = Map.groupBy(items, ({ serialNumber }) => serialNumber);
  statistics.loadCountries(
    toPlays(all),
    new Map(Array.from(byItem, ([serialNumber, rows]) => [serialNumber, toPlays(rows)])),
  );
}

function toPlays(rows: readonly CountryPlays[]) {
  return {
    total: rows.reduce((sum, { plays }) => sum + plays, 0),
    countries: new Map(rows.map(({ country, plays }) => [country, plays])),
  };
}
