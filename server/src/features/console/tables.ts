import type { DefaultTimestamp, TimestampColumn } from '../../platform/database/column-types.ts';

type ConsoleSessionTable = {
  session_id: string;
  organization_id: string;
  api_key_id: string;
  created_at: DefaultTimestamp;
  last_used_at: DefaultTimestamp;
  expires_at: TimestampColumn;
};

declare module '../../platform/database/tables.ts' {
  // oxlint-disable-next-line typescript/consistent-type-definitions
  interface Tables {
    console_session: ConsoleSessionTable;
  }
}
