/**
 * Filters of reports. Counters are kept for each part of the audience by hour (`audience_counter`), and
 * for each item and part of the audience by day (`segment_counter`), so any combination is a sum. A
 * report that is filtered by items has days and weeks, and null where it cannot know: sessions are
 * about many items, and whose views these were is not kept that finely.
 */
import { sql, type RawBuilder } from 'kysely';
import { fieldError } from '../../../platform/http/errors.ts';
import { parseContentId, type OrganizationId } from '../../../platform/ids.ts';
import { contentItems } from '../../content/content.ts';
import type { EventDevice } from '../../events/events.ts';
import type { Period } from './period.ts';

export type ReportFilter = {
  readonly device?: EventDevice;
  readonly country?: string;
  readonly contentId?: string;
  readonly tag?: string;
  readonly author?: string;
  readonly section?: string;
};

const names = ['device', 'country', 'contentId', 'tag', 'author', 'section'] as const;

/**
 * The filter that a query asks for, which may hold other parameters; null without one.
 *
 * @throws ApiError VALIDATION_ERROR
 */
export function readFilter(query: ReportFilter, period: Period): ReportFilter | null {
  if (names.every((name) => query[name] === undefined)) return null;
  const { device, country, contentId, tag, author, section } = query;
  if (country !== undefined && !/^[A-Za-z]{2}$/.test(country)) {
    throw fieldError('query.country', 'must be a country of two letters, such as DE');
  }
  const id = contentId === undefined ? undefined : parseContentId(contentId);
  if (id === null) throw fieldError('query.contentId', 'must be the id of a content item');
  const filter = {
    ...(device !== undefined && { device }),
    ...(country !== undefined && { country: country.toUpperCase() }),
    ...(id !== undefined && { contentId: id }),
    ...(tag !== undefined && { tag }),
    ...(author !== undefined && { author }),
    ...(section !== undefined && { section }),
  };
  if (isAboutItems(filter)) checkDays(period);
  return filter;
}

/**
 * What is kept of single items for parts of the audience has no hours.
 *
 * @throws ApiError VALIDATION_ERROR
 */
export function checkDays({ granularity }: Period): void {
  if (granularity !== 'hour') return;
  throw fieldError('query.granularity', 'hour cannot be combined with this filter');
}

/** Whether only some items are asked for: what is about many items is then unknown. */
export function isAboutItems({ contentId, tag, author, section }: ReportFilter): boolean {
  return [contentId, tag, author, section].some((value) => value !== undefined);
}

/** Whether only a part of the audience is asked for: whose views these were is then unknown. */
export function isAboutAudience({ device, country }: ReportFilter): boolean {
  return device !== undefined || country !== undefined;
}

/** Whether a row of `audience_counter` or `segment_counter` is of the organization and the audience. */
export function matchesAudience(
  organizationId: OrganizationId,
  { device, country }: ReportFilter,
): RawBuilder<unknown> {
  const conditions = [sql`organization_id = ${organizationId}`];
  if (device !== undefined) conditions.push(sql`device = ${device}`);
  if (country !== undefined) conditions.push(sql`country = ${country}`);
  return sql.join(conditions, sql` and `);
}

/** Whether a row of `segment_counter` is one of those that the filter asks for. */
export function matchesFilter(
  organizationId: OrganizationId,
  filter: ReportFilter,
): RawBuilder<unknown> {
  const { contentId, tag, author, section } = filter;
  const conditions = [matchesAudience(organizationId, filter)];
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
