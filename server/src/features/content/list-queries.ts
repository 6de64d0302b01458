import { sql } from 'kysely';
import type { Static } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { matchingItems, type ContentFilter, type ContentQuery } from './item-sets/filter.ts';
import { itemColumns, type ItemRow } from './item.ts';
import type { ContentListQuery } from './schemas.ts';

type Query = Static<typeof ContentListQuery>;
export type ListSort = { by: 'createdAt' | 'updatedAt' | 'title'; order: 'asc' | 'desc' };
export type ListPosition = { value: string; contentId: string };
export type ListedRow = ItemRow & { position: string };

/** The filter from a list's query string: tags are comma-separated, any of which matches. */
export function toFilter({
  tags,
  ...filter
}: Omit<Query, 'limit' | 'cursor' | 'sort' | 'order'>): ContentFilter {
  return { ...filter, ...(tags !== undefined && { anyTags: splitTags(tags) }) };
}

function splitTags(tags: string): string[] {
  return tags
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}

const sortColumns = { createdAt: 'created_at', updatedAt: 'updated_at', title: 'title' } as const;

/**
 * Up to this many matches, a page is selected from all of them. Otherwise the order's index is
 * walked until the page is full: with one match among 100,000 items, that read every row and took a
 * second.
 */
const fewMatches = 1_000;

/** Whether an index finds the filter's matches, so that few of them should be read first. */
export function isSelective({ search, anyTags, allTags }: ContentFilter): boolean {
  return search !== undefined || anyTags !== undefined || allTags !== undefined;
}

/**
 * One page of the list by keyset: `limit` rows after `after`. `total` is known for a selective
 * filter.
 */
export async function listItems(
  db: Db,
  organizationId: OrganizationId,
  filter: ContentFilter,
  sort: ListSort,
  page: { limit: number; after: ListPosition | null; total: number | null },
): Promise<ListedRow[]> {
  const column = sortColumns[sort.by];
  const hasFew = page.total !== null && page.total <= fewMatches;
  let query = (hasFew ? fewItems : matchingItems)(db, organizationId, filter)
    .select(itemColumns)
    .select(sql<string>`${sql.ref(column)}::text`.as('position'));
  if (page.after !== null) {
    const operator = sort.order === 'asc' ? sql`>` : sql`<`;
    const value =
      sort.by === 'title' ? sql`${page.after.value}` : sql`${page.after.value}::timestamptz`;
    query = query.where(
      sql<boolean>`(${sql.ref(column)}, content_id) ${operator} (${value}, ${page.after.contentId}::uuid)`,
    );
  }
  return query
    .orderBy(column, sort.order)
    .orderBy('content_id', sort.order)
    .limit(page.limit)
    .execute();
}

/** The matching items, selected before they are sorted. */
function fewItems(db: Db, organizationId: OrganizationId, filter: ContentFilter): ContentQuery {
  const ids = matchingItems(db, organizationId, filter).select('content_id');
  return db
    .selectFrom('content')
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', sql<string>`any(array(${ids}))`);
}
