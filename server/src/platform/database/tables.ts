/**
 * The tables as Kysely sees them, in the order of the migrations.
 * `Generated` marks what the database fills in when an insert leaves it out.
 */
import type { ColumnType, Generated } from 'kysely';

type Timestamp = ColumnType<Date, Date | string, Date | string>;
type DefaultTimestamp = ColumnType<Date, Date | string | undefined, Date | string>;
type NullableTimestamp = ColumnType<
  Date | null,
  Date | string | null | undefined,
  Date | string | null
>;
/** Written as JSON text, read as a parsed value. */
type Json<T> = ColumnType<T, string, string>;

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

type MediaPreparationTable = {
  organization_id: string;
  content_id: string;
  media_prefix: string;
  prepared: Json<unknown>;
  created_at: DefaultTimestamp;
};

export type WebhookStatus = 'active' | 'disabled';
export type DeliveryState = 'ready' | 'scheduled';
export type DeliveryResult = 'success' | 'failed';

type WebhookTable = {
  organization_id: string;
  webhook_id: string;
  url: string;
  events: string[];
  description: string | null;
  status: Generated<WebhookStatus>;
  secret: Buffer;
  previous_secrets: Generated<Buffer[]>;
  previous_secrets_end: Generated<Date[]>;
  created_at: DefaultTimestamp;
};

type WebhookEventTable = {
  organization_id: string;
  event_id: string;
  kind: string;
  data: string;
  occurred_at: Timestamp;
};

/** A delivery that has not ended; see `features/webhooks/sender.ts` for its states. */
type WebhookDeliveryTable = {
  organization_id: string;
  webhook_id: string;
  delivery_id: string;
  event_id: string;
  kind: string;
  body: string;
  is_test: Generated<boolean>;
  occurred_at: Timestamp;
  created_at: Timestamp;
  state: Generated<DeliveryState>;
  due_at: Timestamp;
  attempts: Generated<number>;
  is_manual: Generated<boolean>;
  sender_id: Generated<string | null>;
  last_attempt_at: NullableTimestamp;
  status_code: Generated<number | null>;
  response_time_ms: Generated<number | null>;
  last_error: Generated<string | null>;
  response: Generated<string | null>;
};

type WebhookDeliveryLogTable = {
  organization_id: string;
  webhook_id: string;
  delivery_id: string;
  event_id: string;
  kind: string;
  body: string;
  is_test: boolean;
  occurred_at: Timestamp;
  created_at: Timestamp;
  status: DeliveryResult;
  attempts: number;
  last_attempt_at: Timestamp;
  status_code: number | null;
  response_time_ms: number | null;
  last_error: string | null;
  response: string | null;
};

type WebhookDeliveryCountTable = {
  organization_id: string;
  webhook_id: string;
  /** A date as text, or `-infinity`. */
  day: string;
  successful: Generated<number>;
  failed: Generated<number>;
  made: Generated<number>;
  last_attempt_at: NullableTimestamp;
};

type WebhookArrivalTable = { organization_id: string; webhook_id: string; deliveries: number };

type WebhookSenderTable = { sender_id: string; name: string; beats: Generated<number> };

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

type ProjectionTable = {
  name: string;
  position: Json<unknown>;
  revision: Generated<number>;
  events: Generated<number>;
  received_at: NullableTimestamp;
  generation: Generated<number>;
  writer_id: string | null;
  writer_until: NullableTimestamp;
};

/** What is counted of one item, and of one part of the audience; see 0007_analytics.sql. */
type EngagementCounts = {
  impressions: Generated<number>;
  plays: Generated<number>;
  completions: Generated<number>;
  likes: Generated<number>;
  shares: Generated<number>;
  saves: Generated<number>;
  swipes_away: Generated<number>;
  views: Generated<number>;
  completed_plays: Generated<number>;
  watch_ms: Generated<number>;
  stalls: Generated<number>;
  stall_ms: Generated<number>;
  attempted_views: Generated<number>;
  errored_views: Generated<number>;
  startable_views: Generated<number>;
  exits_before_start: Generated<number>;
  measured_views: Generated<number>;
  watched_permille: Generated<number>;
};

export type Grain = 'hour' | 'day' | 'total';

type ContentCounterTable = EngagementCounts & {
  organization_id: string;
  grain: Grain;
  period: Timestamp;
  content_id: string;
};

type AudienceCounterTable = EngagementCounts & {
  organization_id: string;
  grain: Exclude<Grain, 'total'>;
  period: Timestamp;
  device: string;
  country: string;
  sessions: Generated<number>;
  session_ms: Generated<number>;
};

type ContentDayTable = {
  organization_id: string;
  day: string;
  content_id: string;
  detail: Json<unknown>;
};

type ViewerSetTable = {
  organization_id: string;
  grain: Exclude<Grain, 'total'>;
  period: Timestamp;
  content_id: string;
  sketch: Buffer;
};

type QualityCounterTable = {
  organization_id: string;
  grain: Exclude<Grain, 'total'>;
  period: Timestamp;
  measure: string;
  label: string;
  count: number;
  total: number;
};

type RetentionCounterTable = {
  organization_id: string;
  cohort_day: string;
  day: string;
  viewers: number;
};

type ViewerActivityTable = { viewer_key: Buffer; organization_id: string; activity: Buffer };

type ViewerProfileTable = {
  viewer_key: Buffer;
  organization_id: string;
  last_at: Timestamp;
  recent: Generated<Buffer>;
  folded: Generated<Buffer>;
};

type LiveViewerTable = {
  organization_id: string;
  content_id: string;
  viewer_key: Buffer;
  last_at: Timestamp;
};

/** The state of views and sessions, keyed by the hash of their viewer and of the rest. */
type StateTable = { key: Buffer; state: Buffer };

export type Tables = {
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
  webhook: WebhookTable;
  webhook_event: WebhookEventTable;
  webhook_delivery: WebhookDeliveryTable;
  webhook_delivery_log: WebhookDeliveryLogTable;
  webhook_delivery_count: WebhookDeliveryCountTable;
  webhook_arrival: WebhookArrivalTable;
  webhook_sender: WebhookSenderTable;
  projection: ProjectionTable;
  content_counter: ContentCounterTable;
  audience_counter: AudienceCounterTable;
  content_day: ContentDayTable;
  viewer_set: ViewerSetTable;
  quality_counter: QualityCounterTable;
  retention_counter: RetentionCounterTable;
  viewer_activity: ViewerActivityTable;
  viewer_profile: ViewerProfileTable;
  live_viewer: LiveViewerTable;
  view_state_a: StateTable;
  view_state_b: StateTable;
  session_state_a: StateTable;
  session_state_b: StateTable;
};
