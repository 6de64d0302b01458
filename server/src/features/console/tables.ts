import type { DefaultTimestamp, StoredTimestamp } from '../../platform/database/column-types.ts';

type ConsoleSessionTable = {
  session_id: string;
  organization_id: string;
  api_key_id: string;
  created_at: DefaultTimestamp;
  last_used_at: DefaultTimestamp;
  expires_at: StoredTimestamp;
};

declare module '../../platform/database/tables.ts' {
  // oxlint-disable-next-line typescript/consistent-type-definitions
  interface Tables {
    console_session: ConsoleSessionTable;
  }
}
