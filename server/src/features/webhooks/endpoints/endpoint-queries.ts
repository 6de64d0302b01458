import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import { isBehind, type KeysetPage } from '../../../platform/database/keyset.ts';
import type { DisabledReason, WebhookStatus } from '../tables.ts';
import type { OrganizationId, WebhookId } from '../../../platform/values/ids.ts';
import type { StoredOptions, WebhookOptions } from './options.ts';

const shownColumns = [
  'webhook_id',
  'url',
  'events',
  'description',
  'status',
  'created_at',
  'disabled_reason',
  'failing_since',
  'header_names',
  'rate_limit',
  'customer',
  sql<WebhookOptions>`options`.as('options'),
  sql<Date | null>`(
    select max(ends_at) from unnest(previous_secrets_end) as old (ends_at)
    where ends_at > statement_timestamp()
  )`.as('previous_secret_ends_at'),
] as const;

export type WebhookRow = {
  webhook_id: string;
  url: string;
  events: string[];
  description: string | null;
  status: WebhookStatus;
  created_at: Date;
  disabled_reason: DisabledReason | null;
  failing_since: Date | null;
  header_names: string[];
  rate_limit: number | null;
  customer: string | null;
  options: WebhookOptions;
  /** When the last replaced secret expires, or null if none is in use. */
  previous_secret_ends_at: Date | null;
};

/** Prevents other transactions from adding webhooks to the organization. */
export async function lockRegistration(tx: Tx, organizationId: OrganizationId): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended(${`webhooks ${organizationId}`}, 76))
  `.execute(tx);
}

export type NewWebhook = {
  organizationId: OrganizationId;
  webhookId: WebhookId;
  url: string;
  events: string[];
  description: string | null;
  sealedSecret: Buffer;
  headerNames: string[];
  sealedHeaders: Buffer | null;
  rateLimit: number | null;
  customer: string | null;
} & StoredOptions;

export async function insertWebhook(tx: Tx, webhook: NewWebhook): Promise<WebhookRow> {
  return tx
    .insertInto('webhook')
    .values({
      organization_id: webhook.organizationId,
      webhook_id: webhook.webhookId,
      url: webhook.url,
      events: webhook.events,
      description: webhook.description,
      secret: webhook.sealedSecret,
      header_names: webhook.headerNames,
      sealed_headers: webhook.sealedHeaders,
      rate_limit: webhook.rateLimit,
      customer: webhook.customer,
      options: JSON.stringify(webhook.options),
      sealed_credentials: webhook.sealedCredentials,
    })
    .returning(shownColumns)
    .executeTakeFirstOrThrow();
}

/** Newest first. `position` is the exact creation time, for the cursor. */
export async function listWebhooks(
  db: Db,
  organizationId: OrganizationId,
  { limit, after }: KeysetPage,
): Promise<(WebhookRow & { position: string })[]> {
  return db
    .selectFrom('webhook')
    .select(shownColumns)
    .select(sql<string>`created_at::text`.as('position'))
    .where('organization_id', '=', organizationId)
    .where(isBehind('created_at', 'webhook_id', after))
    .orderBy('created_at', 'desc')
    .orderBy('webhook_id', 'desc')
    .limit(limit)
    .execute();
}

/** The webhooks of one of the organization's customers, newest first. */
export async function listWebhooksOf(
  db: Db,
  organizationId: OrganizationId,
  customer: string,
): Promise<WebhookRow[]> {
  return db
    .selectFrom('webhook')
    .select(shownColumns)
    .where('organization_id', '=', organizationId)
    .where('customer', '=', customer)
    .orderBy('created_at', 'desc')
    .execute();
}

export async function countWebhooks(db: Db, organizationId: OrganizationId): Promise<number> {
  const { count } = await db
    .selectFrom('webhook')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return count;
}

export async function findWebhook(
  db: Db,
  organizationId: OrganizationId,
  webhookId: WebhookId,
): Promise<WebhookRow | null> {
  const row = await db
    .selectFrom('webhook')
    .select(shownColumns)
    .where('organization_id', '=', organizationId)
    .where('webhook_id', '=', webhookId)
    .executeTakeFirst();
  return row ?? null;
}

export type WebhookSecrets = {
  secret: Buffer;
  /** Replaced secrets that have not expired, newest first. */
  previousSecrets: Buffer[];
  previousSecretsEnd: Date[];
  sealedHeaders: Buffer | null;
  sealedCredentials: Buffer | null;
};

/** The webhook with its encrypted secrets, locked until the transaction ends. */
export async function lockWebhook(
  tx: Tx,
  organizationId: OrganizationId,
  webhookId: WebhookId,
): Promise<(WebhookRow & WebhookSecrets) | null> {
  const row = await tx
    .selectFrom('webhook')
    .select(shownColumns)
    .select([
      'secret',
      'sealed_headers as sealedHeaders',
      'sealed_credentials as sealedCredentials',
    ])
    .select(
      sql<Buffer[]>`array(
      select previous from unnest(previous_secrets, previous_secrets_end)
        with ordinality as old (previous, ends_at, place)
      where ends_at > clock_timestamp() order by place)`.as('previousSecrets'),
    )
    .select(
      sql<Date[]>`array(
      select ends_at from unnest(previous_secrets_end) with ordinality as old (ends_at, place)
      where ends_at > clock_timestamp() order by place)`.as('previousSecretsEnd'),
    )
    .where('organization_id', '=', organizationId)
    .where('webhook_id', '=', webhookId)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

export type WebhookChange = {
  url?: string;
  events?: string[];
  description?: string | null;
  status?: WebhookStatus;
  headers?: { names: string[]; sealed: Buffer | null };
  rateLimit?: number | null;
  customer?: string | null;
  stored?: StoredOptions;
  sealedSecret?: Buffer;
};

export async function updateWebhook(
  tx: Tx,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  change: WebhookChange,
): Promise<WebhookRow | null> {
  const row = await tx
    .updateTable('webhook')
    .set({ ...columnsOf(change), revision: sql<number>`revision + 1` })
    .where('organization_id', '=', organizationId)
    .where('webhook_id', '=', webhookId)
    .returning(shownColumns)
    .executeTakeFirst();
  return row ?? null;
}

/**
 * Activating a webhook resets its failure history, so that old failures do not disable it again.
 */
function columnsOf({
  headers,
  rateLimit,
  status,
  stored,
  sealedSecret,
  ...columns
}: WebhookChange) {
  return {
    ...columns,
    ...(status !== undefined && {
      status,
      disabled_reason:
        status === 'active'
          ? null
          : sql<DisabledReason>`case
        when status = 'disabled' then disabled_reason else 'requested' end`,
      ...(status === 'active' && {
        failing_since: sql<Date | null>`case when status = 'active' then failing_since end`,
      }),
    }),
    ...(headers !== undefined && { header_names: headers.names, sealed_headers: headers.sealed }),
    ...(rateLimit !== undefined && { rate_limit: rateLimit }),
    ...(sealedSecret !== undefined && { secret: sealedSecret }),
    ...(stored !== undefined && {
      options: JSON.stringify(stored.options),
      sealed_credentials: stored.sealedCredentials,
    }),
  };
}

/** parked → ready: the next sender checks the current subscriptions. */
export async function unparkDeliveries(tx: Tx, webhookId: WebhookId): Promise<void> {
  await tx
    .updateTable('webhook_delivery')
    .set({ state: 'ready' })
    .where('webhook_id', '=', webhookId)
    .where('state', '=', 'parked')
    .execute();
}

/** Whether other processes send now, or did so within the last few seconds. */
export async function hasOtherSenders(db: Db, senderId: string | null): Promise<boolean> {
  const row = await db
    .selectFrom('webhook_sender')
    .select('sender_id')
    .where(sql<boolean>`sender_id is distinct from ${senderId}::uuid`)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function deleteWebhook(
  tx: Tx,
  organizationId: OrganizationId,
  webhookId: WebhookId,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('webhook')
    .where('organization_id', '=', organizationId)
    .where('webhook_id', '=', webhookId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * Replaces the secret. The old one remains valid for `graceMs`.
 * @returns when the replaced secret expires
 */
export async function replaceSecret(
  tx: Tx,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  next: {
    sealedSecret: Buffer;
    graceMs: number;
    options: WebhookOptions;
    kept: WebhookSecrets;
  },
): Promise<Date> {
  const { sealedSecret, graceMs, options, kept } = next;
  const { previousEndsAt } = await tx
    .updateTable('webhook')
    .set({
      revision: sql<number>`revision + 1`,
      secret: sealedSecret,
      options: JSON.stringify(options),
      previous_secrets: [kept.secret, ...kept.previousSecrets],
      previous_secrets_end: sql<Date[]>`
        clock_timestamp() + make_interval(secs => ${graceMs / 1_000})
        || ${kept.previousSecretsEnd}::timestamptz[]`,
    })
    .where('organization_id', '=', organizationId)
    .where('webhook_id', '=', webhookId)
    .returning(sql<Date>`previous_secrets_end[1]`.as('previousEndsAt'))
    .executeTakeFirstOrThrow();
  return previousEndsAt;
}
