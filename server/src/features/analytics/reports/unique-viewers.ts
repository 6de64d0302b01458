/** Unique viewers of periods longer than a day: the union of their days, never a sum. */
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
import { hasPeople } from '../projections/links/people-queries.ts';
import { sumItems } from './filtered-segments.ts';
import type { ReportFilter } from './filter.ts';
import { readFilteredSeries, type FilteredSeries, type Within } from './filtered-series.ts';
import { bucketIndex, bucketsOf, type Period } from './period.ts';
import { readItemSets, readOrganizationSets, type StoredSet } from './viewer-set-queries.ts';

/** Unique viewers of a whole period, of each of its buckets (null if unknown), and of other spans. */
export type UniqueViewers = { total: number; byBucket: (number | null)[]; others: number[] };

/** A set is up to 12 KiB, so that many of them are at most 24 MiB at a time. */
const maxSetsAtOnce = 2_000;

export async function countOrganizationViewers(
  db: Db,
  organizationId: OrganizationId,
  period: Period,
  ...others: Within[]
): Promise<UniqueViewers> {
  if (await hasPeople(db, organizationId)) {
    const fromMs = Math.min(...[period, ...others].map(({ startMs }) => startMs));
    return (await readPeopleSeries(db, organizationId, period, { fromMs })).viewers(
      period,
      ...others,
    );
  }
  const read = ({ startMs, endMs }: Within, grain: 'hour' | 'day') =>
    readOrganizationSets(db, organizationId, { grain, startMs, endMs });
  const grain = period.granularity === 'hour' ? 'hour' : 'day';
  const [own, ...sets] = await Promise.all([
    read(period, grain),
    ...others.map((span) => read(span, 'day')),
  ]);
  return { ...mergeByBucket(period, own), others: sets.map(countTogether) };
}

/** Reads viewers alone, each person once. */
function readPeopleSeries(
  db: Db,
  organizationId: OrganizationId,
  period: Period,
  { filter = {}, fromMs = period.startMs }: { filter?: ReportFilter; fromMs?: number } = {},
): Promise<FilteredSeries> {
  const parts = { counts: [], viewers: 'watching' } as const;
  return readFilteredSeries(db, organizationId, period, { filter, parts, fromMs });
}

/** Unique viewers of a single item are kept by day, so hours have none. */
export async function countItemViewers(
  db: Db,
  organizationId: OrganizationId,
  contentId: string,
  period: Period,
): Promise<UniqueViewers> {
  if (await hasPeople(db, organizationId)) {
    const filter = { contentId };
    return (await readPeopleSeries(db, organizationId, period, { filter })).viewers(period);
  }
  const stored = await readItemSets(db, organizationId, [contentId], daysOf(period));
  if (period.granularity !== 'hour') return mergeByBucket(period, stored);
  const { total } = mergeByBucket({ ...period, granularity: 'day' }, stored);
  return { total, byBucket: bucketsOf(period).map(() => null), others: [] };
}

function mergeByBucket(period: Period, stored: readonly StoredSet[]): UniqueViewers {
  const sets = bucketsOf(period).map(() => createViewerSet());
  for (const { period: moment, sketch } of stored) {
    const set = sets[bucketIndex(period, moment.getTime())];
    if (set !== undefined) mergeViewerSets(set, decodeViewerSet(sketch));
  }
  const all = createViewerSet();
  for (const set of sets) mergeViewerSets(all, set);
  return { total: countViewers(all), byBucket: sets.map(countViewers), others: [] };
}

function countTogether(stored: readonly StoredSet[]): number {
  const all = createViewerSet();
  for (const { sketch } of stored) mergeViewerSets(all, decodeViewerSet(sketch));
  return countViewers(all);
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

/** Sets of viewers don't know that devices belong to users, so facts are counted then, which takes longer. */
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
    { counts: [], viewers: 'watching' },
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
