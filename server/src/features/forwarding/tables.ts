import type { ColumnType, Generated } from 'kysely';
import type { DefaultTimestamp, Json } from '../../platform/database/column-types.ts';

type EventForwardingTable = {
  forwarding_id: string;
  organization_id: string;
  webhook_id: string;
  kinds: string[];
  position: Json<unknown>;
  step_end: ColumnType<unknown, string | null | undefined, string | null>;
  pending: Generated<string[]>;
  batches: Generated<number>;
  created_at: DefaultTimestamp;
};

declare module '../../platform/database/tables.ts' {
  interface Tables {
    event_forwarding: EventForwardingTable;
  }
}
