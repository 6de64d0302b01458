/** Unique viewers of longer times: the merge of their days, never a sum. */
import { dayMs } from '../../../platform/time.ts';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import {
  countViewers,
  createViewerSet,
  decodeViewerSet,
  mergeViewerSets,
  type ViewerSet,
} from '../statistics/viewer-set.ts';
import { readPeople } from '../projections/links/link-queries.ts';
import { sumItems } from './filtered-segments.ts';
import { readFilteredSeries } from './filtered-series.ts';
import { bucketIndex, bucketsOf, type Period } from './period.ts';
import { readItemSets, readOrganizationSets, type StoredSet } from './viewer-set-queries.ts';

/** Of a whole period and of each of its buckets; null where it isn't known. */
export type UniqueViewers = { total: number; byBucket: (number | null)[] };

/** A set is up to 12 KiB, so that many of them are at most 24 MiB at a time. */
const maxSetsAtOnce = 2_000;

export async function countOrganizationViewers(
  db: Db,
  organizationId: OrganizationId,
  period: Period,
): Promise<UniqueViewers> {
  if (await hasPeople(db, organizationId)) {
    return (await readFilteredSeries(db, organizationId, period, {})).viewers(period);
  }
  const { startMs, endMs, granularity } = period;
  const grain = granularity === 'hour' ? 'hour' : 'day';
  return mergeByBucket(
    period,
    await readOrganizationSets(db, organizationId, { grain, startMs, endMs }),
  );
}

/** Those of one item are kept by day, so that hours have none. */
export async function countItemViewers(
  db: Db,
  organizationId: OrganizationId,
  contentId: string,
  period: Period,
): Promise<UniqueViewers> {
  if (await hasPeople(db, organizationId)) {
    return (await readFilteredSeries(db, organizationId, period, { contentId })).viewers(period);
  }
  const stored = await readItemSets(db, organizationId, [contentId], daysOf(period));
  if (period.granularity !== 'hour') return mergeByBucket(period, stored);
  const { total } = mergeByBucket({ ...period, granularity: 'day' }, stored);
  return { total, byBucket: bucketsOf(period).map(() => null) };
}

function mergeByBucket(period: Period, stored: readonly StoredSet[]): UniqueViewers {
  const sets = bucketsOf(period).map(() => createViewerSet());
  for (const { period: moment, sketch } of stored) {
    const set = sets[bucketIndex(period, moment.getTime())];
    if (set !== undefined) mergeViewerSets(set, decodeViewerSet(sketch));
  }
  const all = createViewerSet();
  for (const set of sets) mergeViewerSets(all, set);
  return { total: countViewers(all), byBucket: sets.map(countViewers) };
}

/** Each item's unique viewers in a period. Memory is bounded whatever the number of days. */
export async function countViewersOfItems(
  db: Db,
  organizationId: OrganizationId,
  contentIds: readonly string[],
  period: Period,
): Promise<Map<string, number>> {
  if (await hasPeople(db, organizationId))
    return countPeopleOfItems(db, organizationId, contentIds, period);
  const counts = new Map<string, number>();
  for (const ids of inPieces(contentIds, maxSetsAtOnce)) {
    const sets = new Map<string, ViewerSet>(ids.map((id) => [id, createViewerSet()]));
    const daysAtOnce = Math.max(1, Math.floor(maxSetsAtOnce / ids.length));
    for (const days of inPieces(daysOf(period), daysAtOnce)) {
      for (const { content_id: id, sketch } of await readItemSets(db, organizationId, ids, days)) {
        const set = sets.get(id);
        if (set !== undefined) mergeViewerSets(set, decodeViewerSet(sketch));
      }
    }
    for (const [id, set] of sets) counts.set(id, countViewers(set));
  }
  return counts;
}

/**
 * Whether devices belong to users here. Sets of viewers don't know, so facts are counted then, which
 * takes longer: a viewer counts where the view began.
 */
async function hasPeople(db: Db, organizationId: OrganizationId): Promise<boolean> {
  return (await readPeople(db, organizationId)) !== null;
}

async function countPeopleOfItems(
  db: Db,
  organizationId: OrganizationId,
  contentIds: readonly string[],
  period: Period,
): Promise<Map<string, number>> {
  const sums = await sumItems(
    db,
    organizationId,
    { within: period, filter: {} },
    { viewers: 'watching' },
  );
  const viewers = sums.viewersByGroup();
  return new Map(contentIds.map((id) => [id, viewers.get(id) ?? 0]));
}

export function daysOf({ startMs, endMs }: Period): Date[] {
  return Array.from(
    { length: (endMs - startMs) / dayMs },
    (_, index) => new Date(startMs + index * dayMs),
  );
}

function* inPieces<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
