import type { ColumnType, Generated } from 'kysely';
import type {
  DefaultTimestamp,
  Json,
  NullableTimestamp,
  StoredTimestamp,
} from '../../platform/database/column-types.ts';

type AlertTable = {
  alert_id: string;
  organization_id: string;
  name: string;
  rule: Json<unknown>;
  is_enabled: Generated<boolean>;
  state: Generated<'unknown' | 'ok' | 'firing'>;
  calm_windows: Generated<number>;
  opened_at: NullableTimestamp;
  resolved_at: NullableTimestamp;
  next_window: StoredTimestamp;
  due_at: StoredTimestamp;
  last_judgement: ColumnType<unknown, string | null | undefined, string | null>;
  revision: Generated<number>;
  created_at: DefaultTimestamp;
};

type AlertEventTable = {
  alert_id: string;
  number: ColumnType<number, never, never>;
  state: 'opened' | 'resolved';
  reason: string;
  judgement: ColumnType<unknown, string | null | undefined, string | null>;
  at: DefaultTimestamp;
};

declare module '../../platform/database/tables.ts' {
  interface Tables {
    alert: AlertTable;
    alert_event: AlertEventTable;
  }
}
