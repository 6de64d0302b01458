import type { Generated } from 'kysely';
import type {
  DefaultTimestamp,
  NullableTimestamp,
  StoredTimestamp,
} from '../../platform/database/column-types.ts';

export type WebhookStatus = 'active' | 'disabled';
export type DisabledReason = 'requested' | 'failing';
type DeliveryState = 'ready' | 'scheduled' | 'parked' | 'held';
type DeliveryResult = 'success' | 'failed';

type WebhookTable = {
  organization_id: string;
  webhook_id: string;
  url: string;
  events: string[];
  description: string | null;
  status: Generated<WebhookStatus>;
  secret: Buffer;
  previous_secrets: Generated<Buffer[]>;
  previous_secrets_end: Generated<Date[]>;
  created_at: DefaultTimestamp;
  revision: Generated<number>;
  disabled_reason: Generated<DisabledReason | null>;
  failing_since: NullableTimestamp;
  header_names: Generated<string[]>;
  sealed_headers: Generated<Buffer | null>;
  rate_limit: Generated<number | null>;
  options: Generated<unknown>;
  customer: Generated<string | null>;
  sealed_credentials: Generated<Buffer | null>;
  noticed_since: NullableTimestamp;
};

type WebhookEventTable = {
  organization_id: string;
  event_id: string;
  kind: string;
  data: string;
  occurred_at: StoredTimestamp;
  is_test: Generated<boolean>;
};

/** A delivery that has not ended; its states are described in `sending/sender.ts`. */
type WebhookDeliveryTable = {
  organization_id: string;
  webhook_id: string;
  delivery_id: string;
  event_id: string;
  kind: string;
  body: string;
  is_test: Generated<boolean>;
  occurred_at: StoredTimestamp;
  created_at: StoredTimestamp;
  state: Generated<DeliveryState>;
  due_at: StoredTimestamp;
  attempts: Generated<number>;
  is_manual: Generated<boolean>;
  sender_id: Generated<string | null>;
  last_attempt_at: NullableTimestamp;
  status_code: Generated<number | null>;
  response_time_ms: Generated<number | null>;
  last_error: Generated<string | null>;
  response: Generated<string | null>;
  earlier_attempts: Generated<unknown>;
  headers: Generated<unknown>;
  order_key: Generated<string | null>;
  traceparent: Generated<string | null>;
};

type WebhookDeliveryLogTable = {
  organization_id: string;
  webhook_id: string;
  delivery_id: string;
  event_id: string;
  kind: string;
  body: string;
  is_test: boolean;
  occurred_at: StoredTimestamp;
  created_at: StoredTimestamp;
  status: DeliveryResult;
  attempts: number;
  last_attempt_at: StoredTimestamp;
  status_code: number | null;
  response_time_ms: number | null;
  last_error: string | null;
  response: string | null;
  earlier_attempts: Generated<unknown>;
  headers: Generated<unknown>;
};

type WebhookDeliveryCountTable = {
  organization_id: string;
  webhook_id: string;
  /** A date as text, or `-infinity`. */
  day: string;
  successful: Generated<number>;
  failed: Generated<number>;
  made: Generated<number>;
  successful_tests: Generated<number>;
  failed_tests: Generated<number>;
  last_attempt_at: NullableTimestamp;
};

type WebhookSenderTable = { sender_id: string; name: string; beats: Generated<number> };

type WebhookArrivalTable = { organization_id: string; webhook_id: string; deliveries: number };

type WebhookTurnTable = {
  organization_id: string;
  webhook_id: string;
  sender_id: string;
  ends_at: StoredTimestamp;
};

type WebhookPortalLinkTable = {
  organization_id: string;
  link_id: string;
  customer: string;
  token_hash: Buffer;
  created_at: DefaultTimestamp;
  expires_at: StoredTimestamp;
};

declare module '../../platform/database/tables.ts' {
  interface Tables {
    webhook: WebhookTable;
    webhook_event: WebhookEventTable;
    webhook_delivery: WebhookDeliveryTable;
    webhook_delivery_log: WebhookDeliveryLogTable;
    webhook_delivery_count: WebhookDeliveryCountTable;
    webhook_sender: WebhookSenderTable;
    webhook_arrival: WebhookArrivalTable;
    webhook_turn: WebhookTurnTable;
    webhook_portal_link: WebhookPortalLinkTable;
  }
}
