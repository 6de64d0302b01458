/** The table of items that were deleted for good. */
import type { ColumnType } from 'kysely';
import type { DefaultTimestamp, NullableTimestamp } from '../../platform/database/column-types.ts';

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

declare module '../../platform/database/tables.ts' {
  interface Tables {
    deleted_content: DeletedContentTable;
  }
}
