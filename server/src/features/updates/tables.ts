import type { Timestamp } from '../../platform/database/column-types.ts';

type UpdateCheckTable = {
  only_one: boolean;
  url: string;
  checked_at: Timestamp;
  found_version: string | null;
  notes_url: string | null;
};

declare module '../../platform/database/tables.ts' {
  interface Tables {
    update_check: UpdateCheckTable;
  }
}
