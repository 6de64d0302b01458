/**
 * The tables as Kysely sees them, in the order of the migrations; those of webhooks and of statistics
 * have files of their own. `Generated` marks what the database fills in when an insert leaves it out.
 */
import type { ColumnType, Generated } from 'kysely';
import type { DefaultTimestamp, Json, NullableTimestamp, Timestamp } from './column-types.ts';
import type { StatisticsTables } from './statistics-tables.ts';
import type { WebhookTables } from './webhook-tables.ts';

export type ContentType = 'video' | 'carousel' | 'video_carousel' | 'live_stream';
export type UploadStatus = 'pending' | 'processing' | 'ready' | 'error';
export type PublishStatus = 'published' | 'unpublished';
export type Visibility = 'public' | 'unlisted' | 'private';
export type VideoQuality = 'basic' | 'plus';
export type ResolutionTier = 'audio-only' | 'SD' | 'HD' | 'FHD' | 'UHD';
export type BulkJobOperation = 'update' | 'delete' | 'tag' | 'visibility' | 'publish' | 'unpublish';
export type BulkJobStatus = 'processing' | 'complete' | 'cancelled' | 'failed';
export type KeyType = 'secret' | 'publishable';

type OrganizationTable = {
  organization_id: string;
  name: string;
  auto_publish: Generated<boolean>;
  default_protected: Generated<boolean>;
  allowed_origins: Generated<string[]>;
  created_at: DefaultTimestamp;
};

type ApiKeyTable = {
  organization_id: string;
  api_key_id: string;
  type: KeyType;
  name: string;
  prefix: string;
  hash: Buffer;
  created_at: DefaultTimestamp;
  last_used_at: NullableTimestamp;
  expires_at: NullableTimestamp;
  revoked_at: NullableTimestamp;
};

type SigningKeyTable = { name: string; secret: Buffer; created_at: DefaultTimestamp };

type IdempotentRequestTable = {
  organization_id: string;
  idempotency_key: string;
  fingerprint: Buffer;
  status_code: number;
  headers: Json<Record<string, string>>;
  body: Buffer;
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
  source_key: Generated<string | null>;
  source_format: Generated<string | null>;
  created_at: DefaultTimestamp;
  updated_at: DefaultTimestamp;
  archived_at: NullableTimestamp;
  revision: Generated<number>;
  changed_xid: ColumnType<string, never, never>;
  search_text: ColumnType<string, never, never>;
};

type UploadSessionTable = {
  organization_id: string;
  upload_session_id: string;
  content_id: string;
  token_hash: Buffer;
  created_at: DefaultTimestamp;
  expires_at: Timestamp;
  completed_at: NullableTimestamp;
};

type MediaPreparationTable = {
  organization_id: string;
  content_id: string;
  media_prefix: string;
  prepared: Json<unknown>;
  created_at: DefaultTimestamp;
};

export type JobState = 'scheduled' | 'waiting' | 'running' | 'failed';

/** A queued job; see `platform/queue/queue.ts` for its states. */
type JobTable = {
  job_id: Generated<number>;
  organization_id: string;
  name: string;
  payload: Json<unknown>;
  state: JobState;
  unique_key: string | null;
  run_at: DefaultTimestamp;
  attempts: Generated<number>;
  claim_id: Generated<string | null>;
  worker: Generated<string | null>;
  lease_until: NullableTimestamp;
  last_error: Generated<string | null>;
  failed_at: NullableTimestamp;
  created_at: DefaultTimestamp;
};

/** See `features/bulk/bulk-job.ts` for its states. */
type BulkJobTable = {
  organization_id: string;
  bulk_job_id: string;
  operation: BulkJobOperation;
  filter: Json<unknown>;
  changes: ColumnType<unknown, string | null, never>;
  status: BulkJobStatus;
  total_items: number;
  successful_items: Generated<number>;
  failed_items: Generated<number>;
  created_at: DefaultTimestamp;
  completed_at: NullableTimestamp;
};

type BulkJobChunkTable = {
  organization_id: string;
  bulk_job_id: string;
  position: number;
  content_ids: string[];
};

type BulkJobFailureTable = {
  organization_id: string;
  bulk_job_id: string;
  content_id: string;
  code: string;
  message: string;
};

/** Written by a trigger of `content` alone. */
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

export type Tables = WebhookTables &
  StatisticsTables & {
    organization: OrganizationTable;
    api_key: ApiKeyTable;
    signing_key: SigningKeyTable;
    idempotent_request: IdempotentRequestTable;
    content: ContentTable;
    upload_session: UploadSessionTable;
    media_preparation: MediaPreparationTable;
    job: JobTable;
    bulk_job: BulkJobTable;
    bulk_job_chunk: BulkJobChunkTable;
    bulk_job_failure: BulkJobFailureTable;
    deleted_content: DeletedContentTable;
  };
