/**
 * Item filters for the content list, bulk jobs and exports. The code supports all conditions; each
 * route's schema decides which of them a request may use.
 */
import { sql, type SelectQueryBuilder } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { Tables } from '../../../platform/database/tables.ts';
import type { ContentType } from '../content-types.ts';
import type { PublishStatus, UploadStatus, Visibility } from '../tables.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { searchCondition } from '../search.ts';

export type ContentFilter = {
  /** Default: only items that are not archived. */
  archived?: 'true' | 'only';
  anyTags?: readonly string[];
  allTags?: readonly string[];
  contentType?: ContentType;
  uploadStatus?: UploadStatus;
  publishStatus?: PublishStatus;
  visibility?: Visibility;
  section?: string;
  author?: string;
  externalId?: string;
  search?: string;
  createdAfter?: string;
  createdBefore?: string;
};

export type ContentQuery = SelectQueryBuilder<Tables, 'content', object>;

const equalities = {
  contentType: 'content_type',
  uploadStatus: 'upload_status',
  publishStatus: 'publish_status',
  visibility: 'visibility',
  section: 'section',
  author: 'author',
  externalId: 'external_id',
} as const;

/** The items of an organization that meet every condition of the filter. */
export function matchingItems(
  db: Db,
  organizationId: OrganizationId,
  filter: ContentFilter,
): ContentQuery {
  let query: ContentQuery = db.selectFrom('content').where('organization_id', '=', organizationId);
  if (filter.archived === undefined) query = query.where('archived_at', 'is', null);
  if (filter.archived === 'only') query = query.where('archived_at', 'is not', null);
  if (filter.anyTags !== undefined) {
    query = query.where(sql<boolean>`tags && ${filter.anyTags}::text[]`);
  }
  if (filter.allTags !== undefined) {
    query = query.where(sql<boolean>`tags @> ${filter.allTags}::text[]`);
  }
  for (const key of Object.keys(equalities) as (keyof typeof equalities)[]) {
    const value = filter[key];
    if (value !== undefined) query = query.where(equalities[key], '=', value);
  }
  if (filter.createdAfter !== undefined)
    query = query.where('created_at', '>=', nextMillisecond(filter.createdAfter));
  if (filter.createdBefore !== undefined)
    query = query.where('created_at', '<', new Date(filter.createdBefore));
  if (filter.search !== undefined) query = query.where(searchCondition(filter.search));
  return query;
}

/** Clients see milliseconds, so an item must not count as later than its displayed time. */
function nextMillisecond(timestamp: string): Date {
  return new Date(Date.parse(timestamp) + 1);
}
