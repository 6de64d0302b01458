import type { Selectable } from 'kysely';
import type { Tables } from '../../platform/database/tables.ts';
import type { StoredAsset } from './tables.ts';
import { formatTimestamp } from '../../platform/values/time.ts';

/** The columns from which an item is presented. */
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
  'source_tracks',
  'source_warnings',
  'progress',
  'playback_id',
  'media_prefix',
  'has_thumbnail',
  'thumbnail_hash',
  'thumbnail_time',
  'assets',
  'archived_at',
  'created_at',
  'updated_at',
  'revision',
] as const;

export type ItemRow = Pick<Selectable<Tables['content']>, (typeof itemColumns)[number]>;

/** Files derived from a video. */
export type DerivedMedia = {
  /** The thumbnail in all sizes and formats, largest first. */
  thumbnails: { url: string; type: string; width: number; height: number }[];
  /** Three seconds as animated WebP. */
  previewUrl: string | null;
  /** WebVTT whose cues reference regions of one picture. */
  storyboardUrl: string | null;
  /** A single MP4. */
  downloadUrl: string | null;
};

/** URLs of an item's media, provided by the playback feature. */
export type MediaUrls = {
  streamingUrl(row: ItemRow): string | null;
  thumbnailUrl(row: ItemRow): string | null;
  /** Files derived from a video; all empty if they need a playback token. */
  derived(row: ItemRow): DerivedMedia;
  /** The URL of an asset's file; empty if it needs a playback token. */
  assetUrl(row: ItemRow, asset: StoredAsset, file: string): string;
};

/** An item as the API returns it; every field is present, whatever the type. */
export type PresentedItem = ReturnType<typeof presentItem>;

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
    thumbnailHash: thumbnailHashOf(row),
    thumbnailTime: row.thumbnail_time,
    ...urls.derived(row),
    customMetadata: row.custom_metadata,
    captionTracks: presentCaptions(row, urls),
    images: presentImages(row, urls),
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
    sourceTracks: row.source_tracks,
    warnings: row.source_warnings,
    archivedAt: formatTimestamp(row.archived_at),
    progress: Math.round(row.progress * 1000) / 1000,
    createdAt: formatTimestamp(row.created_at),
    updatedAt: formatTimestamp(row.updated_at),
  };
}

/** The cover's hash if there is one, otherwise that of the video's own picture. */
function thumbnailHashOf(row: ItemRow): string | null {
  const cover = row.assets.find(({ kind, state }) => kind === 'cover' && state === 'ready');
  return cover === undefined ? row.thumbnail_hash : String(cover.metadata['hash']);
}

/** An item as feeds show it. */
export function presentPublicItem(row: ItemRow, urls: MediaUrls) {
  const {
    sourceTracks: _tracks,
    warnings: _warnings,
    archivedAt: _archivedAt,
    ...item
  } = presentItem(row, urls);
  return item;
}

/** The images of a carousel in order. */
export function presentImages(row: ItemRow, urls: Pick<MediaUrls, 'assetUrl'>) {
  return row.assets
    .filter((asset) => asset.kind === 'image')
    .map((asset) => ({
      id: asset.id,
      imageUrl: urls.assetUrl(row, asset, 'large.jpg'),
      altText: (asset.metadata['altText'] as string | undefined) ?? null,
      position: asset.position,
      createdAt: formatTimestamp(new Date(asset.createdAt)),
    }));
}

/** The captions of a video; the `url` is empty while they are being made. */
export function presentCaptions(row: ItemRow, urls: Pick<MediaUrls, 'assetUrl'>) {
  return row.assets
    .filter((asset) => asset.kind === 'caption')
    .map((asset) => ({
      id: asset.id,
      language: String(asset.metadata['language']),
      label: String(asset.metadata['label']),
      source: String(asset.metadata['source']),
      url: asset.state === 'ready' ? urls.assetUrl(row, asset, 'captions.vtt') : '',
      trackId: asset.id,
      status: asset.state,
      createdAt: formatTimestamp(new Date(asset.createdAt)),
    }));
}

/** A strong validator: it changes with every change that a client made or can see. */
export function entityTag(row: ItemRow): string {
  return `"${row.revision}"`;
}

/** Whether an If-Match header matches the current version. */
export function matchesEntityTag(header: string, row: ItemRow): boolean {
  const named = header.split(',').map((tag) => tag.trim());
  return named.includes('*') || named.includes(entityTag(row));
}
