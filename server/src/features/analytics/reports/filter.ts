/**
 * Filters of reports. Counters are kept for each item, day and part of the audience
 * (`segment_counter`), so any combination is a sum. Hours are not kept that finely, and neither are
 * viewers and sessions: a filtered report has days and weeks, and null where it cannot know.
 */
import { sql, type RawBuilder } from 'kysely';
import { fieldError } from '../../../platform/http/errors.ts';
import { parseContentId, type OrganizationId } from '../../../platform/ids.ts';
import { contentItems } from '../../content/content.ts';
import type { Period } from './period.ts';

export type ReportFilter = {
  readonly device?: 'ios' | 'android' | 'web';
  readonly country?: string;
  readonly contentId?: string;
  readonly tag?: string;
  readonly author?: string;
  readonly section?: string;
};

const names = ['device', 'country', 'contentId', 'tag', 'author', 'section'] as const;

/**
 * The filter that a query asks for; null without one.
 *
 * @throws ApiError VALIDATION_ERROR
 */
export function readFilter(query: ReportFilter, period: Period): ReportFilter | null {
  if (names.every((name) => query[name] === undefined)) return null;
  if (period.granularity === 'hour') {
    throw fieldError('query.granularity', 'hour cannot be combined with a filter');
  }
  const { country, contentId, ...rest } = query;
  if (country !== undefined && !/^[A-Za-z]{2}$/.test(country)) {
    throw fieldError('query.country', 'must be a country of two letters, such as DE');
  }
  const id = contentId === undefined ? undefined : parseContentId(contentId);
  if (id === null) throw fieldError('query.contentId', 'must be the id of a content item');
  return {
    ...rest,
    ...(country !== undefined && { country: country.toUpperCase() }),
    ...(id !== undefined && { contentId: id }),
  };
}

/** Whether a row of `segment_counter` is one of those that the filter asks for. */
export function matchesFilter(
  organizationId: OrganizationId,
  filter: ReportFilter,
): RawBuilder<unknown> {
  const { device, country, contentId, tag, author, section } = filter;
  const conditions = [sql`organization_id = ${organizationId}`];
  if (device !== undefined) conditions.push(sql`device = ${device}`);
  if (country !== undefined) conditions.push(sql`country = ${country}`);
  if (contentId !== undefined) conditions.push(sql`content_id = ${contentId}::uuid`);
  const ofItem = [sql`item.organization_id = ${organizationId}`];
  if (tag !== undefined) ofItem.push(sql`item.tags @> array[${tag}]::text[]`);
  if (author !== undefined) ofItem.push(sql`item.author = ${author}`);
  if (section !== undefined) ofItem.push(sql`item.section = ${section}`);
  if (ofItem.length > 1) {
    conditions.push(sql`content_id in (
      select item.content_id from ${contentItems} item where ${sql.join(ofItem, sql` and `)})`);
  }
  return sql.join(conditions, sql` and `);
}
