import type { ColumnType, Generated } from 'kysely';
import type { DefaultTimestamp, NullableTimestamp } from '../../platform/database/column-types.ts';
import type { SourceTrack, SourceWarning } from '../media/media.ts';
import type { ContentType } from './content-types.ts';
import type { publishStatuses, uploadStatuses, visibilities } from './schemas.ts';

export type UploadStatus = (typeof uploadStatuses)[number];

export type PublishStatus = (typeof publishStatuses)[number];

export type Visibility = (typeof visibilities)[number];

export type VideoQuality = 'basic' | 'plus';

type ResolutionTier = 'audio-only' | 'SD' | 'HD' | 'FHD' | 'UHD';

export type AssetKind = 'image' | 'caption' | 'preview' | 'storyboard' | 'download' | 'cover';
export type AssetState = 'preparing' | 'ready';

/** An asset as stored in the column `assets`; its row is in the `assets` feature's table. */
export type StoredAsset = {
  id: string;
  kind: AssetKind;
  position: number;
  /** Folder below `media/`, or null while its files are being made. */
  folder: string | null;
  metadata: Record<string, unknown>;
  state: AssetState;
  createdAt: string;
};

type CarouselEntryTable = {
  organization_id: string;
  entry_id: string;
  carousel_id: string;
  video_id: string;
  position: number;
  created_at: DefaultTimestamp;
};

type ContentTable = {
  organization_id: string;
  content_id: string;
  serial_number: ColumnType<number, never, never>;
  content_type: ContentType;
  title: string;
  description: string | null;
  upload_status: Generated<UploadStatus>;
  publish_status: Generated<PublishStatus>;
  visibility: Generated<Visibility>;
  section: string | null;
  author: string | null;
  tags: Generated<string[]>;
  publish_at: NullableTimestamp;
  expires_at: NullableTimestamp;
  duration_seconds: Generated<number | null>;
  protected: Generated<boolean>;
  custom_metadata: ColumnType<Record<string, unknown>, string | undefined, string>;
  width: Generated<number | null>;
  height: Generated<number | null>;
  aspect_ratio: Generated<string | null>;
  max_frame_rate: Generated<number | null>;
  video_quality: VideoQuality | null;
  resolution_tier: Generated<ResolutionTier | null>;
  auto_scroll_interval_seconds: Generated<number | null>;
  article_url: string | null;
  external_id: string | null;
  error_code: Generated<string | null>;
  error_message: Generated<string | null>;
  progress: Generated<number>;
  playback_id: string;
  media_prefix: Generated<string | null>;
  has_thumbnail: Generated<boolean>;
  thumbnail_hash: Generated<string | null>;
  thumbnail_time: Generated<number | null>;
  source_key: Generated<string | null>;
  source_format: Generated<string | null>;
  source_tracks: ColumnType<SourceTrack[], string | undefined, string>;
  source_warnings: ColumnType<SourceWarning[], string | undefined, string>;
  created_at: DefaultTimestamp;
  updated_at: DefaultTimestamp;
  archived_at: NullableTimestamp;
  revision: Generated<number>;
  assets: ColumnType<StoredAsset[], never, string>;
  changed_xid: ColumnType<string, never, never>;
  search_text: ColumnType<string, never, never>;
};

/** Permanently deleted items. Rows are written by a trigger of `content` and removed by purges. */
type DeletedContentTable = {
  organization_id: string;
  content_id: string;
  serial_number: number;
  playback_id: string | null;
  source_key: string | null;
  changed_xid: ColumnType<string, never, never>;
  deleted_at: DefaultTimestamp;
  purged_at: NullableTimestamp;
};

declare module '../../platform/database/tables.ts' {
  interface Tables {
    content: ContentTable;
    carousel_entry: CarouselEntryTable;
    deleted_content: DeletedContentTable;
  }
}
