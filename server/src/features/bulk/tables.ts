import type { ColumnType, Generated } from 'kysely';
import type {
  DefaultTimestamp,
  Json,
  NullableTimestamp,
} from '../../platform/database/column-types.ts';

export type BulkJobOperation = 'update' | 'delete' | 'tag' | 'visibility' | 'publish' | 'unpublish';

export type BulkJobStatus = 'processing' | 'complete' | 'cancelled' | 'failed';

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

declare module '../../platform/database/tables.ts' {
  interface Tables {
    bulk_job: BulkJobTable;
    bulk_job_chunk: BulkJobChunkTable;
    bulk_job_failure: BulkJobFailureTable;
  }
}
