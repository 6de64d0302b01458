import type { DefaultTimestamp } from '../../platform/database/column-types.ts';

type ImportSourceTable = {
  organization_id: string;
  content_id: string;
  source_url: string;
  created_at: DefaultTimestamp;
};

declare module '../../platform/database/tables.ts' {
  interface Tables {
    import_source: ImportSourceTable;
  }
}
