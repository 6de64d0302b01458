/** Deliveries as the API shows them: listing, manual retries and replays. */
import type { Db, Tx } from '../../../platform/database/database.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import {
  momentOfTypeId,
  newTypeIdAt,
  parseTypeId,
  type OrganizationId,
  type WebhookId,
} from '../../../platform/values/ids.ts';
import { formatTimestamp } from '../../../platform/values/time.ts';
import {
  countDeliveries,
  findDelivery,
  isPending,
  readClock,
  reopenDelivery,
  type DeliveryCounts,
  type DeliveryRow,
  type DetailedRow,
  type DeliveryStatus,
  type EarlierAttempt,
} from './delivery-queries.ts';
import { deliveryBody, isSubscribed, isWanted, orderKeyOf } from '../outbox/event-kinds.ts';
import { lockWebhook, type WebhookRow } from '../endpoints/endpoint-queries.ts';
import { webhookErrors } from '../errors.ts';
import { countMatching, type DeliveryFilter } from './list-queries.ts';
import { reopenFailed } from './recover-queries.ts';
import {
  insertReplayed,
  selectMissedEvents,
  type MissedEvent,
  type ReplayPosition,
} from './replay-queries.ts';

/** @param isActive whether the webhook is active; a disabled one has no next attempt */
export function presentDelivery(row: DeliveryRow, isActive: boolean) {
  return {
    id: row.deliveryId,
    event: row.kind,
    status: row.status,
    attempts: row.attempts,
    payload: JSON.parse(row.body) as Record<string, unknown>,
    createdAt: formatTimestamp(row.createdAt),
    ...(row.statusCode !== null && { statusCode: row.statusCode }),
    ...(row.responseTimeMs !== null && { responseTime: row.responseTimeMs }),
    ...(row.lastAttemptAt !== null && { lastAttemptAt: formatTimestamp(row.lastAttemptAt) }),
    ...(row.lastError !== null && { lastError: row.lastError }),
    ...(row.response !== null && { response: row.response }),
    ...(row.nextAttemptAt !== null &&
      isActive && { nextAttemptAt: formatTimestamp(row.nextAttemptAt) }),
    ...(row.isTest && { test: true as const }),
  };
}

/** A delivery with every attempt, oldest first. */
export async function getDelivery(
  db: Db,
  webhook: { organizationId: OrganizationId; webhookId: WebhookId; isActive: boolean },
  rawDeliveryId: string,
) {
  const deliveryId = parseTypeId('dlv', rawDeliveryId);
  if (deliveryId === null) throw new ApiError('NOT_FOUND');
  const { organizationId, webhookId, isActive } = webhook;
  const createdAt = momentOfTypeId(deliveryId);
  const row = await findDelivery(db, organizationId, webhookId, { deliveryId, createdAt });
  if (row === null) throw new ApiError('NOT_FOUND');
  return { ...presentDelivery(row, isActive), attemptHistory: historyOf(row) };
}

function historyOf(row: DetailedRow) {
  const { lastAttemptAt, responseTimeMs, statusCode, lastError, response, headers } = row;
  if (lastAttemptAt === null) return [];
  const latest: EarlierAttempt = {
    at: lastAttemptAt.getTime(),
    responseTimeMs,
    statusCode,
    error: lastError,
    response,
    headers,
  };
  return [...(row.earlierAttempts ?? []), latest].map((attempt) => ({
    startedAt: formatTimestamp(new Date(attempt.at)),
    responseTime: attempt.responseTimeMs,
    statusCode: attempt.statusCode,
    error: attempt.error,
    response: attempt.response,
    requestHeaders: attempt.headers?.request ?? null,
    responseHeaders: attempt.headers?.response ?? null,
  }));
}

export function presentStats(counts: DeliveryCounts) {
  return {
    totalDeliveries: counts.pending + counts.successful + counts.failed,
    successfulDeliveries: counts.successful,
    failedDeliveries: counts.failed,
    lastDeliveryAt: formatTimestamp(counts.lastDeliveryAt),
  };
}

/** The length of a list. If the status is the only filter, the counts give it directly. */
export async function countListed(
  db: Db,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  filter: DeliveryFilter,
): Promise<number> {
  const { status, ...others } = filter;
  if (Object.values(others).some((value) => value !== null)) {
    return countMatching(db, organizationId, webhookId, filter);
  }
  return totalOf(await countDeliveries(db, organizationId, webhookId), status);
}

/** The length of the list filtered only by status, or of the whole list. */
export function totalOf(counts: DeliveryCounts, status: DeliveryStatus | null): number {
  const { pending, keptSuccessful: success, keptFailed: failed } = counts;
  return status === null ? pending + success + failed : { pending, success, failed }[status];
}

/**
 * Queues an ended delivery for one more attempt.
 * @throws {ApiError} NOT_FOUND, DELIVERY_PENDING
 */
export async function retryDelivery(
  tx: Tx,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  rawDeliveryId: string,
) {
  const deliveryId = parseTypeId('dlv', rawDeliveryId);
  if (deliveryId === null) throw new ApiError('NOT_FOUND');
  const createdAt = momentOfTypeId(deliveryId);
  const reopened = await reopenDelivery(tx, organizationId, webhookId, { deliveryId, createdAt });
  if (reopened === null) {
    const pending = await isPending(tx, organizationId, webhookId, deliveryId);
    throw new ApiError(pending ? webhookErrors.DELIVERY_PENDING : 'NOT_FOUND');
  }
  return {
    id: deliveryId,
    status: 'pending' as const,
    attempts: reopened.attempts,
    nextAttemptAt: formatTimestamp(reopened.nextAttemptAt),
  };
}

const reopenedAtOnce = 2_000;
const maxRecovered = 50_000;

/**
 * Queues all failed deliveries that were created in a time range. Each is sent once: a second call
 * finds only those that have failed again.
 * @throws {ApiError} NOT_FOUND
 */
export async function recoverDeliveries(
  tx: Tx,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  { since, until }: { since: Date; until: Date | null },
) {
  const webhook = await lockWebhook(tx, organizationId, webhookId);
  if (webhook === null) throw new ApiError('NOT_FOUND');
  const end = until ?? (await readClock(tx));
  let recovered = 0;
  let complete = false;
  while (!complete && recovered < maxRecovered) {
    const range = { since, until: end, limit: reopenedAtOnce };
    const reopened = await reopenFailed(tx, organizationId, webhookId, range);
    recovered += reopened;
    complete = reopened < reopenedAtOnce;
  }
  return {
    id: webhookId,
    since: formatTimestamp(since),
    until: formatTimestamp(end),
    recovered,
    complete,
  };
}

const replayedAtOnce = 2_000;
const maxReplayed = 50_000;

/**
 * Creates deliveries for past events that the webhook subscribes to but has no deliveries for.
 * Idempotent.
 * @throws {ApiError} NOT_FOUND
 */
export async function replayEvents(
  tx: Tx,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  { since, kinds }: { since: Date; kinds: readonly string[] },
) {
  // The lock serializes replays, so that a second one sees the deliveries that the first has
  // created.
  const webhook = await lockWebhook(tx, organizationId, webhookId);
  if (webhook === null) throw new ApiError('NOT_FOUND');
  let created = 0;
  let after: ReplayPosition | null = null;
  let complete = false;
  while (!complete && created < maxReplayed) {
    const limit = replayedAtOnce;
    const missed: MissedEvent[] = await selectMissedEvents(tx, organizationId, webhookId, {
      since,
      kinds: kinds.filter((kind) => isSubscribed(webhook.events, kind)),
      after,
      limit,
    });
    created += await insertMissed(tx, organizationId, webhook, missed);
    after = missed.at(-1) ?? after;
    complete = missed.length < limit;
  }
  return { id: webhookId, since: formatTimestamp(since), created, complete };
}

async function insertMissed(
  tx: Tx,
  organizationId: OrganizationId,
  { webhook_id: webhookId, options }: Pick<WebhookRow, 'webhook_id' | 'options'>,
  events: readonly MissedEvent[],
): Promise<number> {
  if (events.length === 0) return 0;
  const createdAt = await readClock(tx);
  const wanted = events
    .map((event) => ({ event, data: JSON.parse(event.dataJson) as object }))
    .filter(({ data }) => isWanted(options, data));
  const deliveries = wanted.map(({ event, data }, index) => ({
    webhookId,
    // Numbered, so that they are sent in the order of their events.
    deliveryId: newTypeIdAt('dlv', createdAt, index),
    eventId: event.eventId,
    kind: event.kind,
    occurredAt: event.occurredAt,
    body: deliveryBody(event, webhookId, options.payloadVersion),
    orderKey: orderKeyOf(options, data),
  }));
  await insertReplayed(tx, organizationId, createdAt, deliveries);
  return deliveries.length;
}
