/** Unique viewers of periods longer than a day: the union of the days, never their sum. */
import { dayMs } from '../../../platform/values/time.ts';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import {
  countViewers,
  createViewerSet,
  decodeViewerSet,
  mergeViewerSets,
  type ViewerSet,
} from '../statistics/viewer-set.ts';
import { hasPeople } from '../projections/links/people-queries.ts';
import { setTables, type SetTable } from '../projections/engagement/counter-queries.ts';
import { GroupedPeople } from './grouped-people.ts';
import type { ViewerCounts } from './metrics.ts';
import { zipByKey, zipPeople, type PeopleCounts, type UniqueViewers } from './people-counts.ts';
import type { ReportFilter } from './filter.ts';
import {
  addFiltered,
  readFilteredSeries,
  type FilteredSeries,
  type Within,
} from './filtered-series.ts';
import { bucketIndex, bucketsOf, type Period } from './period.ts';
import { readItemSets, readOrganizationSets, type StoredSet } from './viewer-set-queries.ts';

/** A set takes up to 12 KiB, so this many take at most 24 MiB. */
const maxSetsAtOnce = 2_000;

/** Viewers who watched anything. */
export async function countOrganizationViewers(
  db: Db,
  organizationId: OrganizationId,
  period: Period,
  ...others: Within[]
): Promise<UniqueViewers> {
  if (await hasPeople(db, organizationId)) {
    return (await readPeopleSeries(db, organizationId, period, { others })).viewers(
      period,
      ...others,
    );
  }
  return mergeOrganizationSets(db, organizationId, 'viewer_set', period, others);
}

export async function countOrganizationPeople(
  db: Db,
  organizationId: OrganizationId,
  period: Period,
  ...others: Within[]
): Promise<PeopleCounts<number>> {
  if (await hasPeople(db, organizationId)) {
    const parts = { reactors: true, others };
    return (await readPeopleSeries(db, organizationId, period, parts)).people(period, ...others);
  }
  const [watching, reacting] = await Promise.all(
    setTables.map((table) => mergeOrganizationSets(db, organizationId, table, period, others)),
  );
  return zipPeople(watching ?? noViewers, reacting ?? noViewers);
}

const noViewers: UniqueViewers<number> = { total: 0, byBucket: [], others: [] };

async function mergeOrganizationSets(
  db: Db,
  organizationId: OrganizationId,
  table: SetTable,
  period: Period,
  others: readonly Within[],
): Promise<UniqueViewers<number>> {
  const read = ({ startMs, endMs }: Within, grain: 'hour' | 'day') =>
    readOrganizationSets(db, organizationId, table, { grain, startMs, endMs });
  const grain = period.granularity === 'hour' ? 'hour' : 'day';
  const [own, ...sets] = await Promise.all([
    read(period, grain),
    ...others.map((span) => read(span, 'day')),
  ]);
  return { ...mergeByBucket(period, own), others: sets.map(countTogether) };
}

/** Reads only viewers, each person once. */
function readPeopleSeries(
  db: Db,
  organizationId: OrganizationId,
  period: Period,
  {
    filter = {},
    reactors = false,
    others = [],
  }: { filter?: ReportFilter; reactors?: boolean; others?: readonly Within[] },
): Promise<FilteredSeries> {
  const parts = { counts: [], viewers: 'watching', reactors } as const;
  const fromMs = Math.min(...[period, ...others].map(({ startMs }) => startMs));
  return readFilteredSeries(db, organizationId, period, { filter, parts, fromMs });
}

/** The viewers of a single item are stored by day, so hours have none. */
export async function countItemPeople(
  db: Db,
  organizationId: OrganizationId,
  contentId: string,
  period: Period,
): Promise<PeopleCounts> {
  if (await hasPeople(db, organizationId)) {
    const parts = { filter: { contentId }, reactors: true };
    return (await readPeopleSeries(db, organizationId, period, parts)).people(period);
  }
  const [watching, reacting] = await Promise.all(
    setTables.map((table) => mergeItemSets(db, organizationId, table, contentId, period)),
  );
  return zipPeople<number | null>(watching ?? noViewers, reacting ?? noViewers);
}

async function mergeItemSets(
  db: Db,
  organizationId: OrganizationId,
  table: SetTable,
  contentId: string,
  period: Period,
): Promise<UniqueViewers> {
  const stored = await readItemSets(db, organizationId, table, [contentId], daysOfPeriod(period));
  if (period.granularity !== 'hour') return mergeByBucket(period, stored);
  const { total } = mergeByBucket({ ...period, granularity: 'day' }, stored);
  return { total, byBucket: bucketsOf(period).map(() => null), others: [] };
}

function mergeByBucket(period: Period, stored: readonly StoredSet[]): UniqueViewers<number> {
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

/** The viewers of each item in a period. Memory is bounded regardless of the number of days. */
export async function countPeopleOfItems(
  db: Db,
  organizationId: OrganizationId,
  contentIds: readonly string[],
  period: Period,
): Promise<Map<string, ViewerCounts>> {
  if (contentIds.length === 0) return new Map();
  if (await hasPeople(db, organizationId)) {
    // Viewer sets don't know that devices belong to users, so this counts facts, which takes
    // longer.
    return readPeopleOfItems(db, organizationId, period);
  }
  const watching = await mergeSetsOfItems(db, organizationId, 'viewer_set', contentIds, period);
  const reacting = await mergeSetsOfItems(db, organizationId, 'reactor_set', contentIds, period);
  return zipByKey(watching, reacting);
}

async function mergeSetsOfItems(
  db: Db,
  organizationId: OrganizationId,
  table: SetTable,
  contentIds: readonly string[],
  period: Period,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const ids of inPieces(contentIds, maxSetsAtOnce)) {
    const sets = new Map<string, ViewerSet>(ids.map((id) => [id, createViewerSet()]));
    const daysAtOnce = Math.max(1, Math.floor(maxSetsAtOnce / ids.length));
    for (const days of inPieces(daysOfPeriod(period), daysAtOnce)) {
      const rows = await readItemSets(db, organizationId, table, ids, days);
      for (const { content_id: id, sketch } of rows) {
        const set = sets.get(id);
        if (set !== undefined) mergeViewerSets(set, decodeViewerSet(sketch));
      }
    }
    for (const [id, set] of sets) counts.set(id, countViewers(set));
  }
  return counts;
}

async function readPeopleOfItems(
  db: Db,
  organizationId: OrganizationId,
  within: Within,
): Promise<Map<string, ViewerCounts>> {
  const people = new GroupedPeople('content', { counts: [] });
  await addFiltered(db, organizationId, { within, filter: {} }, people.parts);
  return people.byGroup();
}

export function daysOfPeriod({ startMs, endMs }: Period): Date[] {
  return Array.from(
    { length: (endMs - startMs) / dayMs },
    (_, index) => new Date(startMs + index * dayMs),
  );
}

function* inPieces<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
