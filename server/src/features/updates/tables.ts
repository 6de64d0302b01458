import type { StoredTimestamp } from '../../platform/database/column-types.ts';

type UpdateCheckTable = {
  only_one: boolean;
  url: string;
  checked_at: StoredTimestamp;
  found_version: string | null;
  notes_url: string | null;
};

declare module '../../platform/database/tables.ts' {
  interface Tables {
    update_check: UpdateCheckTable;
  }
}
