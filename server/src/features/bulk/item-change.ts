/**
 * What a bulk operation does to one item, in the form that the statements of `change-queries.ts`
 * read as JSON. A key that is absent leaves the item as it is.
 *
 * The rules that need no row are here; those that do (there is such an item, only a ready one can
 * be published, publishAt before expiresAt, the sizes of what is merged) are in the statements,
 * because a set of rows has to be judged and changed under one lock.
 */
import type { Static } from 'typebox';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { validationError } from '../../platform/http/translate-error.ts';
import { compileBody } from '../../platform/http/validation.ts';
import { parseTimestamp } from '../../platform/time.ts';
import { mergeCustomMetadata, normalizeTags, type Patch } from '../content/content.ts';
import { ItemPatch, type BulkUpdateItem } from './schemas.ts';

export type ItemChange = {
  title?: string;
  description?: string | null;
  section?: string | null;
  author?: string | null;
  articleUrl?: string | null;
  visibility?: 'public' | 'unlisted' | 'private';
  publishStatus?: 'published' | 'unpublished';
  /** UTC in ISO 8601. */
  publishAt?: string | null;
  expiresAt?: string | null;
  /** The tags afterwards; without it, those that are there with `addTags` and less `removeTags`. */
  tags?: string[];
  addTags?: string[];
  removeTags?: string[];
  /** Custom metadata is merged: keys to set, keys to drop. */
  metadataSet?: Record<string, unknown>;
  metadataRemove?: string[];
};

const patchProblems = compileBody(ItemPatch);

/** The change of an update's item, or what is wrong with it in one line. */
export function readItemChange(
  item: Static<typeof BulkUpdateItem>,
): { change: ItemChange } | { problem: string } {
  const { id: _, ...fields } = item;
  const problems = patchProblems(fields);
  if (problems !== null) return { problem: validationError('body', problems).message };
  try {
    return { change: toItemChange(fields as Patch) };
  } catch (error) {
    if (error instanceof ApiError) return { problem: error.message };
    throw error;
  }
}

/** @throws ApiError VALIDATION_ERROR, LIMIT_EXCEEDED */
export function toItemChange(
  fields: Omit<Patch, 'externalId' | 'videoQuality' | 'protected'> & {
    addTags?: string[];
    removeTags?: string[];
  },
  /** Where the fields stand in the request's body, for the paths of errors. */
  prefix = '',
): ItemChange {
  const { tags, addTags, removeTags, customMetadata, publishAt, expiresAt, ...same } = fields;
  const change: ItemChange = {
    ...same,
    ...(tags !== undefined && { tags: normalizeTags(tags, `${prefix}tags`) }),
    ...(addTags !== undefined && { addTags: normalizeTags(addTags, `${prefix}addTags`) }),
    ...(removeTags !== undefined && {
      removeTags: normalizeTags(removeTags, `${prefix}removeTags`),
    }),
    ...(publishAt !== undefined && { publishAt: toMoment(publishAt, `${prefix}publishAt`) }),
    ...(expiresAt !== undefined && { expiresAt: toMoment(expiresAt, `${prefix}expiresAt`) }),
    ...(customMetadata !== undefined && toMetadataChange(customMetadata)),
  };
  if (change.publishAt && change.expiresAt && change.publishAt >= change.expiresAt) {
    throw fieldError(`${prefix}expiresAt`, 'must be after publishAt');
  }
  return change;
}

function toMetadataChange(change: Record<string, unknown>) {
  return {
    metadataSet: mergeCustomMetadata({}, change),
    metadataRemove: Object.keys(change).filter((key) => change[key] === null),
  };
}

/** Normalized to four digits of the year, so that moments compare as text. */
function toMoment(value: string | null, path: string): string | null {
  if (value === null) return null;
  const moment = parseTimestamp(value)?.toISOString() ?? '';
  if (!/^\d{4}-/.test(moment) || moment.startsWith('0000')) {
    throw fieldError(path, 'must lie in the years 1 to 9999');
  }
  return moment;
}
