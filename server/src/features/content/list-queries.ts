import { sql, type SelectQueryBuilder } from 'kysely';
import type { Static } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import type { Tables } from '../../platform/database/tables.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import { itemColumns, type ItemRow } from './item.ts';
import type { ContentListQuery } from './schemas.ts';

type Query = Static<typeof ContentListQuery>;
export type ListFilter = Omit<Query, 'limit' | 'cursor' | 'sort' | 'order'>;
export type ListSort = { by: 'createdAt' | 'updatedAt' | 'title'; order: 'asc' | 'desc' };
export type ListPosition = { value: string; contentId: string };
export type ListedRow = ItemRow & { position: string };

const sortColumns = { createdAt: 'created_at', updatedAt: 'updated_at', title: 'title' } as const;

/** One page of the list by keyset: `limit` rows behind `after`. */
export async function listItems(
  db: Db,
  organizationId: OrganizationId,
  filter: ListFilter,
  sort: ListSort,
  page: { limit: number; after: ListPosition | null },
): Promise<ListedRow[]> {
  const column = sortColumns[sort.by];
  let query = filtered(db, organizationId, filter)
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

export async function countItems(
  db: Db,
  organizationId: OrganizationId,
  filter: ListFilter,
): Promise<number> {
  const { count } = await filtered(db, organizationId, filter)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

type ContentQuery = SelectQueryBuilder<Tables, 'content', object>;

function filtered(db: Db, organizationId: OrganizationId, filter: ListFilter): ContentQuery {
  let query: ContentQuery = db.selectFrom('content').where('organization_id', '=', organizationId);
  if (filter.archived === undefined) query = query.where('archived_at', 'is', null);
  if (filter.archived === 'only') query = query.where('archived_at', 'is not', null);
  if (filter.tags !== undefined) {
    query = query.where(sql<boolean>`tags && ${splitTags(filter.tags)}::text[]`);
  }
  if (filter.contentType !== undefined)
    query = query.where('content_type', '=', filter.contentType);
  if (filter.uploadStatus !== undefined)
    query = query.where('upload_status', '=', filter.uploadStatus);
  if (filter.publishStatus !== undefined) {
    query = query.where('publish_status', '=', filter.publishStatus);
  }
  if (filter.visibility !== undefined) query = query.where('visibility', '=', filter.visibility);
  if (filter.section !== undefined) query = query.where('section', '=', filter.section);
  if (filter.author !== undefined) query = query.where('author', '=', filter.author);
  if (filter.createdAfter !== undefined)
    query = query.where('created_at', '>=', nextMillisecond(filter.createdAfter));
  if (filter.createdBefore !== undefined)
    query = query.where('created_at', '<', new Date(filter.createdBefore));
  if (filter.search !== undefined) {
    query = query.where(
      // What PostgreSQL keeps as one word, such as 2.0 or example.com, is found whole.
      sql<boolean>`search_text @@ (to_tsquery('simple', ${prefixQuery(filter.search)})
        || plainto_tsquery('simple', ${filter.search}))`,
    );
  }
  return query;
}

/** Clients see times in milliseconds, and an item is not after the time that it shows. */
function nextMillisecond(timestamp: string): Date {
  return new Date(Date.parse(timestamp) + 1);
}

function splitTags(tags: string): string[] {
  return tags
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}

/** `big cat` becomes `'big':* & 'cat':*`; quotes and backslashes of the words are text. */
function prefixQuery(search: string): string {
  return search
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => `'${word}':*`)
    .join(' & ');
}
