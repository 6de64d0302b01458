/** The facts of a filter, split by device, country or tag, and by item. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { contentItems } from '../../content/content.ts';
import { FactSums, type FactQuery } from '../facts/sums.ts';
import type { AudienceSegment } from './counter-queries.ts';
import type { ReportFilter } from './filter.ts';
import { addFiltered, type Within } from './filtered-series.ts';
import { GroupedPeople } from './grouped-people.ts';
import { noViewers, sumCounters, type AudienceCounters, type ViewerCounts } from './metrics.ts';
import type { SegmentKind } from './query-schemas.ts';

/** Limits tags to the most played. There are fewer devices and countries than this. */
export const maxTags = 100;

type Wanted = { readonly within: Within; readonly filter: ReportFilter };

/** The sums from which segments are computed. */
export function segmentPeople(
  kind: SegmentKind,
  parts: Pick<FactQuery, 'counts'> = {},
): GroupedPeople {
  return new GroupedPeople(kind === 'tag' ? 'content' : kind, parts);
}

/** The viewers of each segment. */
export async function peopleOf(
  db: Db,
  organizationId: OrganizationId,
  kind: SegmentKind,
  found: GroupedPeople,
): Promise<Map<string, ViewerCounts>> {
  if (kind !== 'tag') return found.byGroup();
  const ids = [...found.sums.groups.keys()].map(String).filter((id) => id !== '');
  const items = await findNames(db, organizationId, ids);
  const tags = [...new Set(items.flatMap((item) => item.tags))];
  const places = new Map(tags.map((tag, place) => [tag, place]));
  const setsOf = new Map(
    items.map((item) => [item.contentId, item.tags.map((tag) => places.get(tag) ?? 0)]),
  );
  const people = found.bySet(tags.length, (id) => setsOf.get(id) ?? []);
  return new Map(tags.map((tag, place) => [tag, people[place] ?? noViewers]));
}

/** Most played first; '' means unknown. */
export async function segmentsOf(
  db: Db,
  organizationId: OrganizationId,
  kind: SegmentKind,
  sums: FactSums,
): Promise<AudienceSegment<AudienceCounters>[]> {
  return kind === 'tag' ? tagsOf(db, organizationId, sums) : groupsOf(sums);
}

function groupsOf(sums: FactSums): AudienceSegment<AudienceCounters>[] {
  return inOrder([...sums.groups.keys()].map((key) => [String(key), sums.countsOf(key)]));
}

/** The facts of a filter, by item. */
export async function sumItems(
  db: Db,
  organizationId: OrganizationId,
  wanted: Wanted,
  parts: Pick<FactQuery, 'counts' | 'viewers'> = {},
): Promise<FactSums> {
  const sums = new FactSums({ groupBy: 'content', ...parts });
  await addFiltered(db, organizationId, wanted, [sums]);
  return sums;
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

export function countedItems(sums: FactSums): string[] {
  return sums
    .countedGroups()
    .map(String)
    .filter((id) => id !== '');
}

async function tagsOf(
  db: Db,
  organizationId: OrganizationId,
  sums: FactSums,
): Promise<AudienceSegment<AudienceCounters>[]> {
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
