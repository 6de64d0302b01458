/** The tables of webhooks, as a part of those in `tables.ts`. */
import type { Generated } from 'kysely';
import type { DefaultTimestamp, NullableTimestamp, Timestamp } from './column-types.ts';

export type WebhookStatus = 'active' | 'disabled';
type DeliveryState = 'ready' | 'scheduled';
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
};

type WebhookEventTable = {
  organization_id: string;
  event_id: string;
  kind: string;
  data: string;
  occurred_at: Timestamp;
};

/** A delivery that has not ended; see `features/webhooks/sender.ts` for its states. */
type WebhookDeliveryTable = {
  organization_id: string;
  webhook_id: string;
  delivery_id: string;
  event_id: string;
  kind: string;
  body: string;
  is_test: Generated<boolean>;
  occurred_at: Timestamp;
  created_at: Timestamp;
  state: Generated<DeliveryState>;
  due_at: Timestamp;
  attempts: Generated<number>;
  is_manual: Generated<boolean>;
  sender_id: Generated<string | null>;
  last_attempt_at: NullableTimestamp;
  status_code: Generated<number | null>;
  response_time_ms: Generated<number | null>;
  last_error: Generated<string | null>;
  response: Generated<string | null>;
};

type WebhookDeliveryLogTable = {
  organization_id: string;
  webhook_id: string;
  delivery_id: string;
  event_id: string;
  kind: string;
  body: string;
  is_test: boolean;
  occurred_at: Timestamp;
  created_at: Timestamp;
  status: DeliveryResult;
  attempts: number;
  last_attempt_at: Timestamp;
  status_code: number | null;
  response_time_ms: number | null;
  last_error: string | null;
  response: string | null;
};

type WebhookDeliveryCountTable = {
  organization_id: string;
  webhook_id: string;
  /** A date as text, or `-infinity`. */
  day: string;
  successful: Generated<number>;
  failed: Generated<number>;
  made: Generated<number>;
  last_attempt_at: NullableTimestamp;
};

type WebhookSenderTable = { sender_id: string; name: string; beats: Generated<number> };

type WebhookArrivalTable = { organization_id: string; webhook_id: string; deliveries: number };

export type WebhookTables = {
  webhook: WebhookTable;
  webhook_event: WebhookEventTable;
  webhook_delivery: WebhookDeliveryTable;
  webhook_delivery_log: WebhookDeliveryLogTable;
  webhook_delivery_count: WebhookDeliveryCountTable;
  webhook_sender: WebhookSenderTable;
  webhook_arrival: WebhookArrivalTable;
};
