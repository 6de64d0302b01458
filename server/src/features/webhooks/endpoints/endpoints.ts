/**
 * Registration of webhooks.
 *
 * 1. An organization has at most 50.
 * 2. The secret appears only in the responses to create and rotate-secret; the database stores it
 *    encrypted.
 * 3. A replaced secret keeps signing alongside the new one for an hour, or for the webhook's
 *    overlap. Rotating again during that time adds another secret, so that each keeps its promised
 *    lifetime.
 */
import type { Db, Tx } from '../../../platform/database/database.ts';
import { ApiError, fieldError } from '../../../platform/http/errors.ts';
import {
  newTypeId,
  parseTypeId,
  type OrganizationId,
  type WebhookId,
} from '../../../platform/values/ids.ts';
import type { WebhookStatus } from '../tables.ts';
import { formatTimestamp } from '../../../platform/values/time.ts';
import type { Vault } from '../../../platform/secrets/vault.ts';
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
  type WebhookRow,
} from './endpoint-queries.ts';
import { sealHeaders, type CustomHeaders } from './custom-headers.ts';
import { secretContext } from './secrets.ts';
import { newSecret, partsOf, publicKeyOf, withSigningKey } from './signing-keys.ts';
import { isSubscribed, type EventCatalogue } from '../outbox/event-kinds.ts';
import { kindsThatNeverPass } from '../outbox/filter.ts';
import type { OptionChange } from './option-schemas.ts';
import {
  changeOptions,
  credentialsContext,
  defaultOverlapS,
  presentOptions,
  requireScheme,
  type StoredOptions,
} from './options.ts';

const maxWebhooks = 50;
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
    ...presentOptions(row.options),
    customer: row.customer,
    previousSecretExpiresAt: formatTimestamp(row.previous_secret_ends_at),
    createdAt: formatTimestamp(row.created_at),
  };
}

/**
 * Parses an id from a client.
 * @throws {ApiError} NOT_FOUND if it is malformed
 */
export function requireWebhookId(raw: string): WebhookId {
  const webhookId = parseTypeId('whk', raw);
  if (webhookId === null) throw new ApiError('NOT_FOUND');
  return webhookId;
}

/** @throws {ApiError} NOT_FOUND */
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
 * Returns a webhook that may be sent to now.
 * @throws {ApiError} NOT_FOUND, CONFLICT
 */
export async function getActiveWebhook(
  db: Db,
  organizationId: OrganizationId,
  webhookId: WebhookId,
): Promise<WebhookRow> {
  const row = await getWebhook(db, organizationId, webhookId);
  if (row.status !== 'active') {
    throw new ApiError('CONFLICT', {
      message: 'The webhook is disabled, so nothing can be sent. Set its status to active first.',
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
  customer?: string | null;
};

/**
 * @param change the options, applied to the defaults
 * @throws {ApiError} LIMIT_EXCEEDED, VALIDATION_ERROR
 */
export async function createWebhook(
  tx: Tx,
  vault: Vault,
  organizationId: OrganizationId,
  request: WebhookRequest,
  change: OptionChange = {},
  catalogue: EventCatalogue | null = null,
) {
  await lockRegistration(tx, organizationId);
  if ((await countWebhooks(tx, organizationId)) >= maxWebhooks) {
    throw new ApiError('LIMIT_EXCEEDED', {
      message: `An organization can have at most ${maxWebhooks} webhooks.`,
    });
  }
  const webhookId = newTypeId('whk');
  const { url, events, description, headers = null, rateLimit = null, customer = null } = request;
  const { names, sealed } = sealHeaders(vault, organizationId, webhookId, headers);
  const before = { options: {}, sealedCredentials: null };
  const context = credentialsContext(organizationId, webhookId);
  const stored = judgeFilter(changeOptions(vault, context, before, change), events, catalogue);
  requireTogether(url, stored, names.length > 0);
  const signed = withKey(newSecret(), stored);
  const row = await insertWebhook(tx, {
    organizationId,
    webhookId,
    url,
    events,
    description,
    rateLimit,
    headerNames: names,
    sealedHeaders: sealed,
    customer,
    ...signed.stored,
    sealedSecret: vault.seal(signed.text, secretContext(organizationId, webhookId)),
  });
  return { ...presentWebhook(row), webhookId, secret: signed.secret };
}

/** Adds an ed25519 key to the secret if the webhook signs with one; the public key is shown. */
function withKey(
  secret: string,
  stored: StoredOptions,
): { secret: string; text: string; stored: StoredOptions } {
  const { publicKey: _old, ...options } = stored.options;
  if (options.signature === undefined) {
    return { secret, text: secret, stored: { ...stored, options } };
  }
  const text = withSigningKey(secret);
  return {
    secret,
    text,
    stored: { ...stored, options: { ...options, publicKey: publicKeyOf(text) } },
  };
}

/** @throws {ApiError} VALIDATION_ERROR */
function judgeFilter(
  stored: StoredOptions,
  events: readonly string[],
  catalogue: EventCatalogue | null,
): StoredOptions {
  const { neverMatches: _old, ...options } = stored.options;
  if (options.filter === undefined || catalogue === null) return { ...stored, options };
  const neverMatches = kindsThatNeverPass(options.filter, kindsOf(catalogue, events));
  return { ...stored, options: { ...options, neverMatches } };
}

function kindsOf({ declared }: EventCatalogue, events: readonly string[]) {
  return new Map([...declared].filter(([kind]) => isSubscribed(events, kind)));
}

/** @throws {ApiError} VALIDATION_ERROR */
function requireTogether(url: string, { options }: StoredOptions, hasHeaders: boolean): void {
  const type = options.destination?.type ?? 'https';
  requireScheme(url, type);
  if (type !== 'https' && hasHeaders)
    throw fieldError('headers', 'is allowed only for HTTPS destinations');
}

export type ChangeRequest = Partial<Omit<WebhookRequest, 'headers'>> & {
  status?: WebhookStatus;
  headers?: CustomHeaders | null;
};

/**
 * @param optionChange the options to change
 * @throws {ApiError} NOT_FOUND, VALIDATION_ERROR
 */
export async function changeWebhook(
  tx: Tx,
  { vault, catalogue }: { vault: Vault; catalogue: EventCatalogue },
  organizationId: OrganizationId,
  webhookId: WebhookId,
  { headers, ...change }: ChangeRequest,
  optionChange: OptionChange = {},
): Promise<WebhookRow> {
  const kept = await lockWebhook(tx, organizationId, webhookId);
  if (kept === null) throw new ApiError('NOT_FOUND');
  const context = credentialsContext(organizationId, webhookId);
  const events = change.events ?? kept.events;
  const stored = judgeFilter(changeOptions(vault, context, kept, optionChange), events, catalogue);
  const sealed =
    headers === undefined ? null : sealHeaders(vault, organizationId, webhookId, headers);
  const names = sealed?.names ?? kept.header_names;
  requireTogether(change.url ?? kept.url, stored, names.length > 0);
  const row = await updateWebhook(tx, organizationId, webhookId, {
    ...change,
    ...(sealed !== null && { headers: sealed }),
    ...resigned(),
  });
  if (row === null) throw new ApiError('NOT_FOUND');
  if (change.events !== undefined) await unparkDeliveries(tx, webhookId);
  return row;

  /** The same secret with its ed25519 key added or removed. */
  function resigned() {
    const hasKey = kept?.options.publicKey !== undefined;
    if (kept === null || hasKey === (stored.options.signature !== undefined)) return { stored };
    const place = secretContext(organizationId, webhookId);
    const { secret } = partsOf(vault.open(kept.secret, place));
    const signed = withKey(secret, stored);
    return { stored: signed.stored, sealedSecret: vault.seal(signed.text, place) };
  }
}

/**
 * Its pending deliveries are never sent and are cleaned up later.
 * @throws {ApiError} NOT_FOUND
 */
export async function removeWebhook(
  tx: Tx,
  organizationId: OrganizationId,
  webhookId: WebhookId,
): Promise<void> {
  if (!(await deleteWebhook(tx, organizationId, webhookId))) throw new ApiError('NOT_FOUND');
}

/** @throws {ApiError} NOT_FOUND, CONFLICT */
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
      message: `${maxPreviousSecrets} previous secrets are still in use. Try again later.`,
    });
  }
  const { secret, text, stored } = withKey(newSecret(), kept);
  const previousEndsAt = await replaceSecret(tx, organizationId, webhookId, {
    sealedSecret: vault.seal(text, secretContext(organizationId, webhookId)),
    graceMs: (kept.options.rotationOverlap ?? defaultOverlapS) * 1_000,
    options: stored.options,
    kept,
  });
  return {
    id: webhookId,
    secret,
    publicKey: stored.options.publicKey ?? null,
    previousSecretExpiresAt: formatTimestamp(previousEndsAt),
  };
}
