import type { ColumnType, Generated } from 'kysely';
import type {
  DefaultTimestamp,
  Json,
  NullableTimestamp,
  StoredTimestamp,
} from '../../platform/database/column-types.ts';

type SavedReportTable = {
  report_id: string;
  organization_id: string;
  name: string;
  report: string;
  query: Json<unknown>;
  range: string;
  schedule: ColumnType<unknown, string | null | undefined, string | null>;
  recipients: Generated<string[]>;
  posts_webhook: Generated<boolean>;
  is_enabled: Generated<boolean>;
  next_at: NullableTimestamp;
  created_at: DefaultTimestamp;
};

type ReportRunTable = {
  run_id: string;
  report_id: string;
  due_at: NullableTimestamp;
  status: Generated<'pending' | 'ready' | 'failed'>;
  start_day: string;
  end_day: string;
  data: ColumnType<unknown, string | null | undefined, string | null>;
  csv: string | null;
  as_of: NullableTimestamp;
  error_message: string | null;
  created_at: DefaultTimestamp;
  made_at: NullableTimestamp;
  mailed_at: NullableTimestamp;
};

type ReportLinkTable = {
  link_id: string;
  report_id: string;
  created_at: DefaultTimestamp;
  expires_at: StoredTimestamp;
};

declare module '../../platform/database/tables.ts' {
  interface Tables {
    saved_report: SavedReportTable;
    report_run: ReportRunTable;
    report_link: ReportLinkTable;
  }
}
