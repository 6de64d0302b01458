/** What a filter asks for, split by device, country or tag, and by item. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { contentItems } from '../../content/content.ts';
import { sumFacts, type FactSums } from '../facts/sums.ts';
import type { Segment } from './counter-queries.ts';
import { toFactFilter, type ReportFilter } from './filter.ts';
import { sumCounters, type AudienceCounters } from './metrics.ts';
import type { SegmentKind } from './query-schemas.ts';

type Within = { readonly startMs: number; readonly endMs: number };
type Wanted = { readonly within: Within; readonly filter: ReportFilter };

/** The most played first; the unknown ones are under ''. */
export async function readFilteredSegments(
  db: Db,
  organizationId: OrganizationId,
  kind: SegmentKind,
  { within, filter }: Wanted,
): Promise<Segment<AudienceCounters>[]> {
  if (kind === 'tag') return readTags(db, organizationId, { within, filter });
  const { startMs, endMs } = within;
  const sums = await sumFacts(db, organizationId, {
    startMs,
    endMs,
    filter: await toFactFilter(db, organizationId, filter),
    groupBy: kind,
  });
  return inOrder([...sums.groups.keys()].map((key) => [String(key), sums.countsOf(key)]));
}

/** The facts of items that a filter asks for, by item. */
export async function sumItems(
  db: Db,
  organizationId: OrganizationId,
  { within: { startMs, endMs }, filter }: Wanted,
  extras: { readonly viewers?: 'watching' } = {},
): Promise<FactSums> {
  const wanted = await toFactFilter(db, organizationId, filter);
  return sumFacts(db, organizationId, {
    startMs,
    endMs,
    filter: wanted,
    groupBy: 'content',
    ...extras,
  });
}

export type NamedItem = { contentId: string; title: string; tags: string[] };

/** The given items that still exist. */
export async function findNames(
  db: Db,
  organizationId: OrganizationId,
  contentIds: readonly string[],
): Promise<NamedItem[]> {
  const { rows } = await sql<NamedItem>`
    select content_id as "contentId", title, tags from ${contentItems} item
    where organization_id = ${organizationId} and content_id = any(${contentIds}::uuid[])
  `.execute(db);
  return rows;
}

/** Ids of the items that facts were added up for, where any count is not 0. */
export function countedItems(sums: FactSums): string[] {
  return [...sums.groups.keys()]
    .map(String)
    .filter((id) => id !== '' && Object.values(sums.countsOf(id)).some((count) => count !== 0));
}

async function readTags(
  db: Db,
  organizationId: OrganizationId,
  wanted: Wanted,
): Promise<Segment<AudienceCounters>[]> {
  const sums = await sumItems(db, organizationId, wanted);
  const items = await findNames(db, organizationId, countedItems(sums));
  const byTag = new Map<string, AudienceCounters[]>();
  for (const { contentId, tags } of items) {
    for (const tag of tags) {
      const parts = byTag.get(tag) ?? [];
      parts.push(sums.countsOf(contentId));
      byTag.set(tag, parts);
    }
  }
  return inOrder([...byTag].map(([tag, parts]) => [tag, sumCounters(parts)]));
}

function inOrder(segments: [segment: string, counters: AudienceCounters][]) {
  return segments
    .filter(([, counters]) => Object.values(counters).some((count) => count !== 0))
    .toSorted(([a, one], [b, other]) => other.plays - one.plays || (a < b ? -1 : 1))
    .map(([segment, counters]) => ({ segment, counters }));
}
