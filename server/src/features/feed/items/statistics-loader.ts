/** Reads the counters of an organization's items into its index. */
import { setImmediate } from 'node:timers/promises';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import {
  readFadedCountries,
  readFadedCounts,
  readItemCountries,
} from '../../analytics/analytics.ts';
import type { Counts } from './item-stats.ts';
import type { ItemStatistics } from './item-statistics.ts';

export async function loadStatistics(
  db: Db,
  organizationId: OrganizationId,
  statistics: ItemStatistics,
): Promise<void> {
  const bases = new Map<string, Counts>();
  await readFadedCounts(db, organizationId, async (rows) => {
    for (const { contentId, impressions, plays, completions, likes, saves, shares } of rows) {
      const reactions = likes + 2 * saves + 3 * shares;
      bases.set(contentId, { impressions, plays, completions, reactions });
    }
    // Requests of this process must not wait for all of it.
    await setImmediate();
  });
  statistics.load(bases);
  await loadCountries(db, organizationId, statistics);
}

async function loadCountries(
  db: Db,
  organizationId: OrganizationId,
  statistics: ItemStatistics,
): Promise<void> {
  const [all, items] = await Promise.all([
    readFadedCountries(db, organizationId),
    readItemCountries(db, organizationId),
  ]);
  const known = all.filter(({ country }) => country !== '');
  const byItem = Map.groupBy(
    items.filter(({ country }) => country !== ''),
    ({ contentId }) => contentId,
  );
  statistics.loadCountries(
    toPlays(known),
    new Map(Array.from(byItem, ([contentId, rows]) => [contentId, toPlays(rows)])),
  );
}

function toPlays(rows: readonly { country: string; plays: number }[]) {
  return {
    total: rows.reduce((sum, { plays }) => sum + plays, 0),
    countries: new Map(rows.map(({ country, plays }) => [country, plays])),
  };
}
