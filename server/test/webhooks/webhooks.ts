/** Shared by the webhook tests. */
import { sql } from 'kysely';
import { atEnd, silentLog } from '../database.ts';
import { eventually, startService, type TestService } from '../service.ts';
import { inTransaction, openDatabase, type Db } from '../../src/platform/database/database.ts';
import { recordEvent } from '../../src/features/webhooks/webhooks.ts';

export type WebhookService = TestService & {
  db: Db;
  organizationId: string;
  /** Records a content.ready event in its own transaction. */
  cause(title: string): Promise<void>;
  /** Registers a webhook, by default for content.ready, and returns the response's data. */
  register(url: string, events?: string[]): Promise<CreatedWebhook>;
  deliveries(webhookId: string, query?: string): Promise<ShownDelivery[]>;
};

export type CreatedWebhook = { id: string; webhookId: string; secret: string; url: string };

export type ShownDelivery = {
  id: string;
  event: string;
  status: string;
  statusCode?: number;
  attempts: number;
  responseTime?: number;
  payload: { event: string; data: { title: string }; timestamp: string; webhookId: string };
  lastAttemptAt?: string;
  lastError?: string;
  response?: string;
  nextAttemptAt?: string;
  createdAt: string;
  test?: true;
};

/** The service with its own database, which the test can access too. */
export async function startWebhookService(
  env: Record<string, string> = {},
): Promise<WebhookService> {
  const service = await startService(env);
  const database = openDatabase({ connection: service.connection, poolSize: 4, log: silentLog });
  atEnd(() => database[Symbol.asyncDispose]());
  const { db } = database;
  const { organization_id: organizationId } = await db
    .selectFrom('organization')
    .select('organization_id')
    .executeTakeFirstOrThrow();
  return {
    ...service,
    db,
    organizationId,
    cause: (title) => cause(db, organizationId, title),
    async register(url, events = ['content.ready']) {
      const { status, body, text } = await service.call('POST', '/v1/webhooks', {
        body: { url, events },
      });
      if (status !== 201) throw new Error(`not registered: ${text}`);
      return body.data;
    },
    async deliveries(webhookId, query = 'limit=100') {
      const path = `/v1/webhooks/${webhookId}/deliveries?${query}`;
      return (await service.call('GET', path)).body.data;
    },
  };
}

export async function cause(db: Db, organizationId: string, title: string): Promise<void> {
  const contentId = '0198c0de-0000-7000-8000-000000000000';
  await inTransaction(db, (tx) =>
    recordEvent(tx, organizationId, 'content.ready', {
      contentId,
      title,
      duration: 1.5,
      status: 'ready',
    }),
  );
}

/** Queues `count` due deliveries for a webhook. */
export async function fillLine(db: Db, webhookId: string, count: number): Promise<void> {
  await sql`
    insert into webhook_delivery (organization_id, webhook_id, delivery_id, event_id, kind, body,
      occurred_at, created_at, due_at)
    select organization_id, webhook_id, 'dlv_' || lpad(n::text, 26, '0'), gen_random_uuid(),
      'content.ready', '{"event":"content.ready","data":{"title":"' || n || '"}}', now(), now(),
      now()
    from webhook, generate_series(1, ${count}::int) n where webhook_id = ${webhookId}`.execute(db);
}

/** Waits until all deliveries of a webhook have ended. */
export async function allEnded(db: Db, timeoutMs = 30_000): Promise<void> {
  await eventually(
    'no delivery is pending',
    async () => {
      const { rows } = await sql`
        select from webhook_delivery join webhook using (organization_id, webhook_id)
        limit 1`.execute(db);
      return rows.length === 0 ? true : null;
    },
    timeoutMs,
  );
}

/**
 * Inserts `count` ended deliveries of today into the log and the counts, 1 % of them failed, to
 * avoid the time that sending them would take.
 */
export async function fillHistory(
  db: Db,
  {
    organizationId,
    webhookId,
    count,
  }: { organizationId: string; webhookId: string; count: number },
): Promise<void> {
  await sql`
    with logged as (
      insert into webhook_delivery_log (organization_id, webhook_id, delivery_id, event_id, kind,
        body, is_test, occurred_at, created_at, status, attempts, last_attempt_at)
      select ${organizationId}, ${webhookId}, 'dlv_' || lpad(n::text, 26, '0'), gen_random_uuid(),
        'content.ready', '{"event":"content.ready","data":{}}', false, moment, moment,
        case when n % 100 = 0 then 'failed' else 'success' end, 1, moment
      from generate_series(1, ${count}::int) n,
        lateral (select date_trunc('day', now(), 'UTC') + n * interval '1 millisecond' as moment) at
      returning status
    ), arrival as (
      insert into webhook_arrival (organization_id, webhook_id, deliveries)
      values (${organizationId}, ${webhookId}, ${count})
    )
    insert into webhook_delivery_count (organization_id, webhook_id, day, successful, failed,
      last_attempt_at)
    select ${organizationId}, ${webhookId}, (now() at time zone 'UTC')::date,
      count(*) filter (where status = 'success'), count(*) filter (where status = 'failed'), now()
    from logged`.execute(db);
  await sql`vacuum analyze webhook_delivery_log`.execute(db);
}
