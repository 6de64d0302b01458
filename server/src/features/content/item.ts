import type { Selectable } from 'kysely';
import type { Tables } from '../../platform/database/tables.ts';
import { formatTimestamp } from '../../platform/time.ts';

/** The columns that an item is presented from. */
export const itemColumns = [
  'content_id',
  'content_type',
  'title',
  'description',
  'upload_status',
  'publish_status',
  'visibility',
  'section',
  'author',
  'tags',
  'publish_at',
  'expires_at',
  'duration_seconds',
  'protected',
  'custom_metadata',
  'width',
  'height',
  'aspect_ratio',
  'max_frame_rate',
  'video_quality',
  'resolution_tier',
  'auto_scroll_interval_seconds',
  'article_url',
  'external_id',
  'error_code',
  'error_message',
  'progress',
  'playback_id',
  'media_prefix',
  'has_thumbnail',
  'created_at',
  'updated_at',
  'revision',
] as const;

export type ItemRow = Pick<Selectable<Tables['content']>, (typeof itemColumns)[number]>;

/** Where the media of an item is reached; made by the playback feature. */
export type MediaUrls = {
  streamingUrl(row: ItemRow): string | null;
  thumbnailUrl(row: ItemRow): string | null;
};

/** An item as the API answers it; every field is there, whatever the type. */
export type Item = ReturnType<typeof presentItem>;

export function presentItem(row: ItemRow, urls: MediaUrls) {
  return {
    id: row.content_id,
    contentType: row.content_type,
    title: row.title,
    description: row.description,
    uploadStatus: row.upload_status,
    publishStatus: row.publish_status,
    visibility: row.visibility,
    streamingUrl: urls.streamingUrl(row),
    section: row.section,
    author: row.author,
    tags: row.tags,
    publishAt: formatTimestamp(row.publish_at),
    expiresAt: formatTimestamp(row.expires_at),
    duration: row.duration_seconds,
    protected: row.protected,
    thumbnailUrl: urls.thumbnailUrl(row),
    customMetadata: row.custom_metadata,
    captionTracks: [],
    images: [],
    width: row.width,
    height: row.height,
    aspectRatio: row.aspect_ratio,
    maxFrameRate: row.max_frame_rate,
    videoQuality: row.video_quality,
    resolutionTier: row.resolution_tier,
    autoScrollInterval: row.auto_scroll_interval_seconds,
    articleUrl: row.article_url,
    externalId: row.external_id,
    errorReason:
      row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    progress: Math.round(row.progress * 1000) / 1000,
    createdAt: formatTimestamp(row.created_at),
    updatedAt: formatTimestamp(row.updated_at),
  };
}

/** A strong validator: it changes with every change that a client made or can see. */
export function entityTag(row: ItemRow): string {
  return `"${row.revision}"`;
}

/** Whether an If-Match header names the present version. */
export function matchesEntityTag(header: string, row: ItemRow): boolean {
  const named = header.split(',').map((tag) => tag.trim());
  return named.includes('*') || named.includes(entityTag(row));
}
