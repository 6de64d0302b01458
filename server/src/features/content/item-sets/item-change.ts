/**
 * A change to an item, in the JSON form that the statements of `change-parts.ts` read. Absent keys
 * leave the item unchanged. PATCH changes one item; bulk operations and jobs change many.
 *
 * Rules that need no row are checked here. Rules that need one (the item exists, only a ready item
 * can be published, publishAt before expiresAt, the number of merged tags) are in the statements,
 * because a set of rows must be judged and changed under one lock. Custom metadata is merged by
 * `mergeMetadataOf`, so that its size is measured in one place.
 */
import { sql } from 'kysely';
import type { Tx } from '../../../platform/database/database.ts';
import { ApiError, fieldError } from '../../../platform/http/errors.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { parseTimestamp } from '../../../platform/values/time.ts';
import { mergeCustomMetadata, normalizeTags, type Patch } from '../metadata.ts';

export type ItemChange = {
  title?: string;
  description?: string | null;
  section?: string | null;
  author?: string | null;
  articleUrl?: string | null;
  externalId?: string | null;
  videoQuality?: 'basic' | 'plus';
  /** In seconds, for image carousels only. */
  autoScrollInterval?: number | null;
  protected?: boolean;
  visibility?: 'public' | 'unlisted' | 'private';
  publishStatus?: 'published' | 'unpublished';
  /** UTC in ISO 8601. */
  publishAt?: string | null;
  expiresAt?: string | null;
  /** The resulting tags; if absent, the current ones plus `addTags` minus `removeTags`. */
  tags?: string[];
  addTags?: string[];
  removeTags?: string[];
  /** Keys to set; null removes a key. After `mergeMetadataOf`, the complete custom metadata. */
  customMetadata?: Record<string, unknown>;
};

/** A change and its item. `contentId` is null if the id is malformed. */
export type RequestedItem = {
  id: string;
  contentId: string | null;
  change: ItemChange;
  /** A problem with the request itself, independent of the item's row. */
  problem: string | null;
};

/** @throws {ApiError} VALIDATION_ERROR, LIMIT_EXCEEDED */
export function toItemChange(
  fields: Patch & { addTags?: string[]; removeTags?: string[] },
  /** Path of the fields in the request body, for error paths. */
  prefix = '',
): ItemChange {
  const { tags, addTags, removeTags, customMetadata, publishAt, expiresAt, ...same } = fields;
  if (customMetadata !== undefined) mergeCustomMetadata({}, customMetadata);
  const change: ItemChange = {
    ...same,
    ...(tags !== undefined && { tags: normalizeTags(tags, `${prefix}tags`) }),
    ...(addTags !== undefined && { addTags: normalizeTags(addTags, `${prefix}addTags`) }),
    ...(removeTags !== undefined && {
      removeTags: normalizeTags(removeTags, `${prefix}removeTags`),
    }),
    ...(publishAt !== undefined && { publishAt: toMoment(publishAt, `${prefix}publishAt`) }),
    ...(expiresAt !== undefined && { expiresAt: toMoment(expiresAt, `${prefix}expiresAt`) }),
    ...(customMetadata !== undefined && { customMetadata }),
  };
  if (change.publishAt && change.expiresAt && change.publishAt >= change.expiresAt) {
    throw fieldError(`${prefix}expiresAt`, 'must be after publishAt');
  }
  return change;
}

/** Normalized to a four-digit year, so that times compare as text. */
function toMoment(value: string | null, path: string): string | null {
  if (value === null) return null;
  const moment = parseTimestamp(value)?.toISOString() ?? '';
  if (!/^\d{4}-/.test(moment) || moment.startsWith('0000')) {
    throw fieldError(path, 'must be in the years 1 to 9999');
  }
  return moment;
}

/**
 * Merges each change's custom metadata into its item's. An item whose result is too large or too
 * deep gets a problem. If any change has custom metadata, all items are locked in id order, so that
 * the following statement takes no lock out of order.
 */
export async function mergeMetadataOf(
  tx: Tx,
  organizationId: OrganizationId,
  items: readonly RequestedItem[],
): Promise<readonly RequestedItem[]> {
  if (items.every(({ change }) => change.customMetadata === undefined)) return items;
  const ids = items.flatMap(({ contentId }) => (contentId === null ? [] : [contentId]));
  const { rows } = await sql<{ id: string; metadata: Record<string, unknown> }>`
    select content_id as id, custom_metadata as metadata from content
    where organization_id = (select ${organizationId}::text)
      and content_id = any(${ids}::uuid[]) and archived_at is null
    order by content_id for update
  `.execute(tx);
  const current = new Map(rows.map(({ id, metadata }) => [id, metadata]));
  return items.map((item) => withMergedMetadata(item, current.get(item.contentId ?? '')));
}

function withMergedMetadata(
  item: RequestedItem,
  current: Record<string, unknown> | undefined,
): RequestedItem {
  const { customMetadata } = item.change;
  if (customMetadata === undefined || current === undefined) return item;
  try {
    const merged = mergeCustomMetadata(current, customMetadata);
    return { ...item, change: { ...item.change, customMetadata: merged } };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { customMetadata: _, ...change } = item.change;
    return { ...item, change, problem: item.problem ?? error.message };
  }
}
