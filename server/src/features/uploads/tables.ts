import type { ColumnType, Generated } from 'kysely';
import type {
  DefaultTimestamp,
  NullableTimestamp,
  StoredTimestamp,
} from '../../platform/database/column-types.ts';

/** A stored object with the next bytes of a resumable upload. */
export type UploadPart = { key: string; sizeBytes: number };

type UploadSessionTable = {
  organization_id: string;
  upload_session_id: string;
  content_id: string;
  token_hash: Buffer;
  created_at: DefaultTimestamp;
  expires_at: StoredTimestamp;
  completed_at: NullableTimestamp;
  upload_length: Generated<number | null>;
  parts: ColumnType<UploadPart[], never, string>;
  writer: Generated<string | null>;
  whole_session_id: Generated<string | null>;
  upload_concat: Generated<string | null>;
};

declare module '../../platform/database/tables.ts' {
  interface Tables {
    upload_session: UploadSessionTable;
  }
}
