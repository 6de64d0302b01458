import type { ColumnType } from 'kysely';
import type {
  DefaultTimestamp,
  Json,
  NullableTimestamp,
  StoredTimestamp,
} from '../../platform/database/column-types.ts';

type MetricTable = {
  number: ColumnType<number, never, never>;
  organization_id: string;
  metric_id: string;
  name: string;
  description: string | null;
  definition: Json<unknown>;
  created_at: DefaultTimestamp;
  computed_at: NullableTimestamp;
  deleted_at: NullableTimestamp;
};

type MetricEventTable = {
  metric_number: number;
  viewer_key: Buffer;
  at: StoredTimestamp;
  event_key: Buffer;
  numerator: number;
  denominator: number;
};

type ViewerVersionTable = {
  viewer_key: Buffer;
  version: string;
  organization_id: string;
  first_at: StoredTimestamp;
};

declare module '../../platform/database/tables.ts' {
  interface Tables {
    metric: MetricTable;
    metric_event: MetricEventTable;
    viewer_version: ViewerVersionTable;
  }
}
