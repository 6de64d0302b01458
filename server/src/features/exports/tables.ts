import type { Generated } from 'kysely';
import type {
  Json,
  NullableTimestamp,
  StoredTimestamp,
} from '../../platform/database/column-types.ts';
import type { LogPosition } from '../../platform/event-log/event-log.ts';
import type { Piece } from '../../platform/storage/storage.ts';
import type { ReportFilter } from '../analytics/analytics.ts';
import type { ReadPosition } from './datasets/dataset.ts';

export const datasets = [
  'events',
  'viewers',
  'content',
  'analytics',
  'experiments',
  'webhooks',
] as const;
export const formats = ['ndjson', 'csv', 'parquet'] as const;
export const compressions = ['none', 'gzip', 'zstd'] as const;
export const exportStatuses = [
  'pending',
  'processing',
  'ready',
  'failed',
  'cancelled',
  'expired',
] as const;

export type Dataset = (typeof datasets)[number];
export type ExportFormat = (typeof formats)[number];
export type Compression = (typeof compressions)[number];
export type ExportStatus = (typeof exportStatuses)[number];

type DataExportTable = {
  export_id: string;
  organization_id: string;
  dataset: Dataset;
  format: ExportFormat;
  compression: Compression;
  start_day: string;
  end_day: string;
  status: Generated<ExportStatus>;
  revision: Generated<number>;
  file_name: Generated<string | null>;
  row_count: number | null;
  file_size: number | null;
  error_message: string | null;
  created_at: Generated<StoredTimestamp>;
  completed_at: NullableTimestamp;
  expires_at: NullableTimestamp;
  filter: Generated<Json<ReportFilter>>;
  time_zone: Generated<string>;
  schedule_id: string | null;
  progress: Generated<number>;
  pieces: Generated<Json<Piece[]>>;
};

type ExportScheduleTable = {
  schedule_id: string;
  organization_id: string;
  dataset: Dataset;
  format: ExportFormat;
  compression: Compression;
  filter: Json<ReportFilter>;
  delay_hours: number;
  next_day: string;
  created_at: Generated<StoredTimestamp>;
};

type ExportDestinationTable = {
  destination_id: string;
  organization_id: string;
  bucket: string;
  prefix: string;
  region: string | null;
  endpoint: string | null;
  path_style: boolean;
  credentials: Buffer;
  every: 'hour' | 'day';
  compression: Compression;
  filter: Json<ReportFilter>;
  time_zone: string;
  position: Json<LogPosition>;
  number: Generated<number>;
  until: Json<LogPosition> | null;
  revision: Generated<number>;
  next_at: Generated<StoredTimestamp>;
  pushed_rows: Generated<number>;
  pushed_at: NullableTimestamp;
  last_error: string | null;
  created_at: Generated<StoredTimestamp>;
};

type ExportDestinationFileTable = {
  destination_id: string;
  key: string;
  row_count: number | null;
  size_bytes: number | null;
};

type DataExportPartTable = {
  export_id: string;
  number: number;
  row_count: number;
  reader: Json<ReadPosition>;
  writer: string;
};

declare module '../../platform/database/tables.ts' {
  // oxlint-disable-next-line typescript/consistent-type-definitions
  interface Tables {
    data_export: DataExportTable;
    export_destination: ExportDestinationTable;
    export_destination_file: ExportDestinationFileTable;
    export_schedule: ExportScheduleTable;
    data_export_part: DataExportPartTable;
  }
}
