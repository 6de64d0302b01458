import type { Json, NullableTimestamp } from '../../platform/database/column-types.ts';

type BackupStatusTable = {
  kind: 'backup' | 'archive' | 'drill';
  started_at: NullableTimestamp;
  succeeded_at: NullableTimestamp;
  failed_at: NullableTimestamp;
  failure: string | null;
  facts: Json<Record<string, unknown>>;
};

declare module '../../platform/database/tables.ts' {
  interface Tables {
    backup_status: BackupStatusTable;
  }
}
