/** Filters of reports. Reports with a filter add up the facts that match all of it (`../facts`). */
import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import { fieldError } from '../../../platform/http/errors.ts';
import { parseContentId, type OrganizationId } from '../../../platform/values/ids.ts';
import { contentItems } from '../../content/content.ts';
import { isCountry, type EventDevice } from '../../events/events.ts';
import { contentKey, countryNumber, factDevices, type PackedContentId } from '../facts/facts.ts';
import type { FactFilter } from '../facts/sums.ts';
import { hashText } from '../statistics/viewer-key.ts';

export type ReportFilter = {
  readonly device?: EventDevice;
  readonly country?: string;
  readonly entryPoint?: string;
  readonly appVersion?: string;
  readonly contentId?: string;
  readonly tag?: string;
  readonly author?: string;
  readonly section?: string;
};

export const filterNames = [
  'device',
  'country',
  'entryPoint',
  'appVersion',
  'contentId',
  'tag',
  'author',
  'section',
] as const;

/**
 * Extracts the filter from a query, which may contain other parameters. Returns null without one.
 *
 * @param path of the fields, for error messages
 * @throws ApiError VALIDATION_ERROR
 */
export function readFilter(query: ReportFilter, path = 'query'): ReportFilter | null {
  const given = filterNames.filter((name) => query[name] !== undefined);
  if (given.length === 0) return null;
  const { contentId } = query;
  const country = query.country?.toUpperCase();
  // Same rule as for events, none of which has a nonexistent country.
  if (country !== undefined && !isCountry(country)) {
    throw fieldError(`${path}.country`, 'must be an ISO 3166-1 alpha-2 country code such as DE');
  }
  const id = contentId === undefined ? undefined : parseContentId(contentId);
  if (id === null) throw fieldError(`${path}.contentId`, 'must be the id of a content item');
  return {
    ...Object.fromEntries(given.map((name) => [name, query[name]])),
    ...(country !== undefined && { country }),
    ...(id !== undefined && { contentId: id }),
  };
}

/** Whether the filter selects items, in which case there are no session metrics. */
export function isAboutItems({ contentId, tag, author, section }: ReportFilter): boolean {
  return [contentId, tag, author, section].some((value) => value !== undefined);
}

/** The conditions on facts. Tags, authors and sections are the items' current ones. */
export async function toFactFilter(
  db: Db,
  organizationId: OrganizationId,
  filter: ReportFilter,
): Promise<FactFilter> {
  const { device, country, entryPoint, appVersion } = filter;
  return {
    ...(device !== undefined && { device: factDevices.indexOf(device) }),
    ...(country !== undefined && { country: countryNumber(country) }),
    ...(entryPoint !== undefined && { entryPoint }),
    ...(appVersion !== undefined && { appVersion: hashText(appVersion) }),
    ...(isAboutItems(filter) && { contentIds: await findItems(db, organizationId, filter) }),
  };
}

/** The ids of the items that a filter selects, or null if it does not select by item. */
export async function findFilteredItems(
  db: Db,
  organizationId: OrganizationId,
  filter: ReportFilter,
): Promise<ReadonlySet<string> | null> {
  if (!isAboutItems(filter)) return null;
  return new Set(await selectItems(db, organizationId, filter));
}

async function findItems(
  db: Db,
  organizationId: OrganizationId,
  filter: ReportFilter,
): Promise<Set<PackedContentId>> {
  return new Set((await selectItems(db, organizationId, filter)).map(contentKey));
}

async function selectItems(
  db: Db,
  organizationId: OrganizationId,
  { contentId, tag, author, section }: ReportFilter,
): Promise<string[]> {
  const conditions = [sql`item.organization_id = ${organizationId}`];
  if (contentId !== undefined) conditions.push(sql`item.content_id = ${contentId}::uuid`);
  if (tag !== undefined) conditions.push(sql`item.tags @> array[${tag}]::text[]`);
  if (author !== undefined) conditions.push(sql`item.author = ${author}`);
  if (section !== undefined) conditions.push(sql`item.section = ${section}`);
  const { rows } = await sql<{ content_id: string }>`
    select item.content_id from ${contentItems} item where ${sql.join(conditions, sql` and `)}
  `.execute(db);
  return rows.map((row) => row.content_id);
}
