/** Items for tests that need no database. */
import type { ItemRow, MediaUrls } from '../../src/features/content/item.ts';

const createdAt = new Date('2026-01-01T00:00:00Z');

/** A video that is ready and published. */
export function itemRow(given: Partial<ItemRow> = {}): ItemRow {
  return {
    content_id: '01890000-0000-7000-8000-000000000001',
    content_type: 'video',
    title: 'A title',
    description: null,
    upload_status: 'ready',
    publish_status: 'published',
    visibility: 'public',
    section: null,
    author: null,
    tags: [],
    publish_at: null,
    expires_at: null,
    duration_seconds: 15,
    protected: false,
    custom_metadata: {},
    width: 720,
    height: 1_280,
    aspect_ratio: '9:16',
    max_frame_rate: 30,
    video_quality: 'basic',
    resolution_tier: 'HD',
    auto_scroll_interval_seconds: null,
    article_url: null,
    external_id: null,
    error_code: null,
    error_message: null,
    source_tracks: [],
    source_warnings: [],
    progress: 1,
    playback_id: 'p',
    media_prefix: 'media/p',
    has_thumbnail: true,
    thumbnail_hash: null,
    thumbnail_time: null,
    assets: [],
    archived_at: null,
    created_at: createdAt,
    updated_at: createdAt,
    revision: 1,
    ...given,
  };
}

/** URLs without a host: an asset's are its id and the file. */
export const urls: MediaUrls = {
  streamingUrl: () => '/stream.m3u8',
  thumbnailUrl: () => '/thumbnail.jpg',
  derived: () => ({ thumbnails: [], previewUrl: null, storyboardUrl: null, downloadUrl: null }),
  assetUrl: (_row, { id }, file) => `/${id}/${file}`,
};
