/** Converts an item's metadata from API fields to table columns. */
import type { Static } from 'typebox';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { parseTimestamp } from '../../platform/values/time.ts';
import type { ContentPatch, NewCarousel, NewContentMetadata } from './schemas.ts';

export type Metadata = Static<typeof NewContentMetadata>;
export type NewCarouselFields = Static<typeof NewCarousel>;
export type Patch = Static<typeof ContentPatch>;

/** Columns set by metadata; absent fields were not given. */
export type MetadataColumns = {
  title?: string;
  description?: string | null;
  tags?: string[];
  section?: string | null;
  author?: string | null;
  visibility?: 'public' | 'unlisted' | 'private';
  protected?: boolean;
  publish_at?: Date | null;
  expires_at?: Date | null;
  external_id?: string | null;
  video_quality?: 'basic' | 'plus';
  article_url?: string | null;
  auto_scroll_interval_seconds?: number | null;
};

/** The columns of everything except `customMetadata`, which is merged rather than replaced. */
export function toColumns(
  fields: Omit<Patch, 'customMetadata' | 'publishStatus'>,
): MetadataColumns {
  const { tags, publishAt, expiresAt, externalId, videoQuality, articleUrl, ...others } = fields;
  const { autoScrollInterval, ...same } = others;
  return {
    ...same,
    ...(tags !== undefined && { tags: normalizeTags(tags) }),
    ...(publishAt !== undefined && { publish_at: toDate(publishAt) }),
    ...(expiresAt !== undefined && { expires_at: toDate(expiresAt) }),
    ...(externalId !== undefined && { external_id: externalId }),
    ...(videoQuality !== undefined && { video_quality: videoQuality }),
    ...(articleUrl !== undefined && { article_url: articleUrl }),
    ...(autoScrollInterval !== undefined && {
      auto_scroll_interval_seconds: autoScrollInterval,
    }),
  };
}

/** @throws {ApiError} if an item would expire before or at its publication */
export function checkSchedule(publishAt: Date | null, expiresAt: Date | null): void {
  if (publishAt !== null && expiresAt !== null && publishAt.getTime() >= expiresAt.getTime()) {
    throw fieldError('expiresAt', 'must be after publishAt');
  }
}

/** Trims tags and removes duplicates, keeping their order. Case-sensitive. */
export function normalizeTags(tags: readonly string[], path = 'tags'): string[] {
  const trimmed = tags.map((tag) => tag.trim());
  for (const [index, tag] of trimmed.entries()) {
    if (tag === '') throw fieldError(`${path}[${index}]`, 'must not be empty');
    if (tag.includes(',')) throw fieldError(`${path}[${index}]`, 'must not contain a comma');
  }
  return [...new Set(trimmed)];
}

function toDate(value: string | null): Date | null {
  return value === null ? null : parseTimestamp(value);
}

const maxMetadataBytes = 16 * 1024;
const maxMetadataDepth = 8;

/**
 * Custom metadata after a change: keys are set, and `null` removes one. `language` belongs to the
 * service.
 * @throws {ApiError} if the client sets `language`, or the result is too large or too deep
 */
export function mergeCustomMetadata(
  current: Record<string, unknown>,
  change: Record<string, unknown>,
): Record<string, unknown> {
  if (Object.hasOwn(change, 'language')) {
    throw fieldError('customMetadata.language', 'is set by the service and cannot be changed');
  }
  const merged = Object.fromEntries(
    Object.entries({ ...current, ...change }).filter(([, value]) => value !== null),
  );
  if (!fitsDepth(merged)) {
    throw fieldError(
      'customMetadata',
      `must be finite values, at most ${maxMetadataDepth} levels deep`,
    );
  }
  if (Buffer.byteLength(JSON.stringify(merged)) > maxMetadataBytes) {
    throw new ApiError('LIMIT_EXCEEDED', {
      message: `customMetadata: must be at most ${maxMetadataBytes} bytes of JSON`,
      details: [{ path: 'customMetadata', message: `must be at most ${maxMetadataBytes} bytes` }],
    });
  }
  return merged;
}

/** Whether nothing is nested too deep and no number has overflowed (`1e400` parses as infinity). */
function fitsDepth(value: unknown, depth = 0): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth >= maxMetadataDepth) return false;
  return Object.values(value).every((item) => fitsDepth(item, depth + 1));
}
