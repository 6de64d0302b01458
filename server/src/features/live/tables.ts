import type {
  DefaultTimestamp,
  NullableTimestamp,
  StoredTimestamp,
} from '../../platform/database/column-types.ts';
import type { Generated } from 'kysely';
import type { StreamHealth } from './ingest/stream-meter.ts';
import type { VideoCodec } from './ingest/video-header.ts';

export const liveStatuses = ['idle', 'active', 'ended'] as const;
export type LiveStatus = (typeof liveStatuses)[number];

export const targetStatuses = ['idle', 'connecting', 'sending', 'failed'] as const;
export type TargetStatus = (typeof targetStatuses)[number];

export const latencies = ['low', 'normal'] as const;
export type Latency = (typeof latencies)[number];

type LiveStreamTable = {
  organization_id: string;
  live_stream_id: string;
  content_id: string;
  status: Generated<LiveStatus>;
  reconnect_window_seconds: number;
  dvr_window_seconds: Generated<number>;
  latency: Generated<Latency>;
  key_hash: Buffer;
  publisher: string | null;
  seen_at: NullableTimestamp;
  init_segment: Buffer | null;
  segment_count: Generated<number>;
  duration_ms: Generated<number>;
  longest_segment_ms: Generated<number>;
  target_duration_seconds: Generated<number | null>;
  has_segments: Generated<boolean>;
  created_at: DefaultTimestamp;
  started_at: NullableTimestamp;
  ended_at: NullableTimestamp;
  deleted_at: NullableTimestamp;
  disconnected_at: NullableTimestamp;
  disconnect_count: Generated<number>;
  is_settled: Generated<boolean>;
  health: Generated<StreamHealth | null>;
};

type LiveFormatTable = {
  organization_id: string;
  live_stream_id: string;
  number: number;
  video_codec: Generated<VideoCodec>;
  video_header: Buffer | null;
  audio_header: Buffer | null;
};

type LiveSegmentTable = {
  organization_id: string;
  live_stream_id: string;
  number: number;
  file_name: string;
  duration_ms: number;
  size_bytes: number;
  started_at: StoredTimestamp;
  is_discontinuity: boolean;
  format: Generated<number>;
};

type LiveRungTable = {
  organization_id: string;
  live_stream_id: string;
  name: string;
  width: number;
  height: number;
  video_codec: string;
  max_bitrate_bps: number;
};

type LiveRungSegmentTable = {
  organization_id: string;
  live_stream_id: string;
  rung: string;
  number: number;
  file_name: string | null;
  header_name: string | null;
  size_bytes: number | null;
};

type LiveSimulcastTargetTable = {
  organization_id: string;
  live_stream_id: string;
  target_id: string;
  name: string;
  url: string;
  sealed_key: Buffer;
  key_end: string;
  status: Generated<TargetStatus>;
  message: string | null;
  changed_at: NullableTimestamp;
  created_at: DefaultTimestamp;
};

type LivePartTable = {
  organization_id: string;
  live_stream_id: string;
  rendition: Generated<number>;
  segment: number;
  number: number;
  file_name: string;
  duration_ms: number;
  is_independent: boolean;
  segment_started_at: StoredTimestamp;
  is_discontinuity: boolean;
  format: number;
  bytes: Buffer;
  created_at: DefaultTimestamp;
};

type LiveViewerTable = {
  organization_id: string;
  content_id: string;
  viewer_key: Buffer;
  last_at: StoredTimestamp;
};

declare module '../../platform/database/tables.ts' {
  interface Tables {
    live_stream: LiveStreamTable;
    live_segment: LiveSegmentTable;
    live_format: LiveFormatTable;
    live_rung: LiveRungTable;
    live_rung_segment: LiveRungSegmentTable;
    live_simulcast_target: LiveSimulcastTargetTable;
    live_part: LivePartTable;
    live_viewer: LiveViewerTable;
  }
}
