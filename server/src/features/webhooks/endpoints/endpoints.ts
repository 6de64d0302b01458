/**
 * The registration of webhooks.
 *
 * 1. An organization has at most 50.
 * 2. The secret is in the answers to create and rotate-secret and nowhere else; the database holds
 *    it sealed.
 * 3. A replaced secret signs beside the new one for an hour. Rotating again within the hour adds
 *    one more, so that each keeps the time that it was promised.
 */
import type { Db, Tx } from '../../../platform/database/database.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import {
  newTypeId,
  parseTypeId,
  type OrganizationId,
  type WebhookId,
} from '../../../platform/ids.ts';
import { formatTimestamp } from '../../../platform/time.ts';
import type { Vault } from '../../../platform/vault.ts';
import {
  countWebhooks,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  lockRegistration,
  lockWebhook,
  replaceSecret,
  unparkDeliveries,
  updateWebhook,
  type WebhookChange,
  type WebhookRow,
} from './endpoint-queries.ts';
import { sealHeaders, type CustomHeaders } from './custom-headers.ts';
import { secretContext } from './secrets.ts';
import { newSecret } from '../sending/signing.ts';

const maxWebhooks = 50;
const previousSecretMs = 3_600_000;
const maxPreviousSecrets = 10;

export function presentWebhook(row: WebhookRow) {
  return {
    id: row.webhook_id,
    url: row.url,
    events: row.events,
    description: row.description,
    status: row.status,
    disabledReason: row.disabled_reason,
    failingSince: formatTimestamp(row.failing_since),
    headerNames: row.header_names,
    rateLimit: row.rate_limit,
    previousSecretExpiresAt: formatTimestamp(row.previous_secret_ends_at),
    createdAt: formatTimestamp(row.created_at),
  };
}

/** The id that a client has sent. @throws ApiError NOT_FOUND for another form */
export function requireWebhookId(raw: string): WebhookId {
  const webhookId = parseTypeId('whk', raw);
  if (webhookId === null) throw new ApiError('NOT_FOUND');
  return webhookId;
}

/** @throws ApiError NOT_FOUND */
export async function getWebhook(
  db: Db,
  organizationId: OrganizationId,
  webhookId: WebhookId,
): Promise<WebhookRow> {
  const row = await findWebhook(db, organizationId, webhookId);
  if (row === null) throw new ApiError('NOT_FOUND');
  return row;
}

/**
 * A webhook that something may be sent to now.
 *
 * @throws ApiError NOT_FOUND, CONFLICT
 */
export async function getActiveWebhook(
  db: Db,
  organizationId: OrganizationId,
  webhookId: WebhookId,
): Promise<WebhookRow> {
  const row = await getWebhook(db, organizationId, webhookId);
  if (row.status !== 'active') {
    throw new ApiError('CONFLICT', {
      message: 'The webhook is disabled: nothing is sent. Set its status to active first.',
    });
  }
  return row;
}

export type WebhookRequest = {
  url: string;
  events: string[];
  description: string | null;
  headers?: CustomHeaders | null;
  rateLimit?: number | null;
};

/** @throws ApiError LIMIT_EXCEEDED */
export async function createWebhook(
  tx: Tx,
  vault: Vault,
  organizationId: OrganizationId,
  request: WebhookRequest,
) {
  await lockRegistration(tx, organizationId);
  if ((await countWebhooks(tx, organizationId)) >= maxWebhooks) {
    throw new ApiError('LIMIT_EXCEEDED', {
      message: `An organization has at most ${maxWebhooks} webhooks.`,
    });
  }
  const webhookId = newTypeId('whk');
  const secret = newSecret();
  const { url, events, description, headers = null, rateLimit = null } = request;
  const { names, sealed } = sealHeaders(vault, organizationId, webhookId, headers);
  const row = await insertWebhook(tx, {
    organizationId,
    webhookId,
    url,
    events,
    description,
    rateLimit,
    headerNames: names,
    sealedHeaders: sealed,
    sealedSecret: vault.seal(secret, secretContext(organizationId, webhookId)),
  });
  return { ...presentWebhook(row), webhookId, secret };
}

/** @throws ApiError NOT_FOUND */
export async function changeWebhook(
  tx: Tx,
  vault: Vault,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  { headers, ...change }: Omit<WebhookChange, 'headers'> & { headers?: CustomHeaders | null },
): Promise<WebhookRow> {
  const sealed =
    headers === undefined
      ? {}
      : { headers: sealHeaders(vault, organizationId, webhookId, headers) };
  const row = await updateWebhook(tx, organizationId, webhookId, { ...change, ...sealed });
  if (row === null) throw new ApiError('NOT_FOUND');
  if (change.events !== undefined) await unparkDeliveries(tx, webhookId);
  return row;
}

/** Its pending deliveries are never sent, and swept later. @throws ApiError NOT_FOUND */
export async function removeWebhook(
  tx: Tx,
  organizationId: OrganizationId,
  webhookId: WebhookId,
): Promise<void> {
  if (!(await deleteWebhook(tx, organizationId, webhookId))) throw new ApiError('NOT_FOUND');
}

/** @throws ApiError NOT_FOUND, CONFLICT */
export async function rotateSecret(
  tx: Tx,
  vault: Vault,
  organizationId: OrganizationId,
  webhookId: WebhookId,
) {
  const kept = await lockWebhook(tx, organizationId, webhookId);
  if (kept === null) throw new ApiError('NOT_FOUND');
  if (kept.previousSecrets.length >= maxPreviousSecrets) {
    throw new ApiError('CONFLICT', {
      message: `The secret was rotated ${maxPreviousSecrets} times within an hour. Try again later.`,
    });
  }
  const secret = newSecret();
  const previousEndsAt = await replaceSecret(tx, organizationId, webhookId, {
    sealedSecret: vault.seal(secret, secretContext(organizationId, webhookId)),
    graceMs: previousSecretMs,
    kept,
  });
  return { id: webhookId, secret, previousSecretExpiresAt: formatTimestamp(previousEndsAt) };
}
