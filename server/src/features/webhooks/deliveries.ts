/** Deliveries as people see them: the list, a retry by hand, a replay, a test send. */
import { randomUUID } from 'node:crypto';
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import {
  momentOfTypeId,
  newTypeIdAt,
  parseTypeId,
  type OrganizationId,
  type WebhookId,
} from '../../platform/ids.ts';
import { formatTimestamp } from '../../platform/time.ts';
import { writeAttemptLine, type AttemptLog } from './attempt-log.ts';
import { attemptDelivery, type AttemptParts } from './attempt.ts';
import {
  insertEndedTest,
  isPending,
  readClock,
  reopenDelivery,
  type DeliveryCounts,
  type DeliveryRow,
  type DeliveryStatus,
  type EndedTest,
} from './delivery-queries.ts';
import { deliveryBody, sampleData, type EventKind } from './events.ts';
import { lockWebhook } from './queries.ts';
import {
  insertReplayed,
  selectMissedEvents,
  type MissedEvent,
  type ReplayPosition,
} from './replay-queries.ts';
import { decide } from './schedule.ts';
import type { SecretReader } from './secrets.ts';

export function presentDelivery(row: DeliveryRow) {
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
    ...(row.nextAttemptAt !== null && { nextAttemptAt: formatTimestamp(row.nextAttemptAt) }),
    ...(row.isTest && { test: true as const }),
  };
}

export function presentStats(counts: DeliveryCounts) {
  return {
    totalDeliveries: counts.pending + counts.successful + counts.failed,
    successfulDeliveries: counts.successful,
    failedDeliveries: counts.failed,
    lastDeliveryAt: formatTimestamp(counts.lastDeliveryAt),
  };
}

/** The length of the list with the given filter. */
export function totalOf(counts: DeliveryCounts, status: DeliveryStatus | null): number {
  const { pending, keptSuccessful: success, keptFailed: failed } = counts;
  return status === null ? pending + success + failed : { pending, success, failed }[status];
}

/**
 * Puts an ended delivery in line for one more attempt.
 *
 * @throws ApiError NOT_FOUND, DELIVERY_PENDING
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
    throw new ApiError(pending ? 'DELIVERY_PENDING' : 'NOT_FOUND');
  }
  return {
    id: deliveryId,
    status: 'pending' as const,
    attempts: reopened.attempts,
    nextAttemptAt: formatTimestamp(reopened.nextAttemptAt),
  };
}

const replayedAtOnce = 2_000;
const mostReplayed = 50_000;

/**
 * Makes deliveries of the events since a moment that the webhook subscribes to and has none of.
 * Repeating it makes none twice.
 *
 * @throws ApiError NOT_FOUND
 */
export async function replayEvents(
  tx: Tx,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  since: Date,
) {
  // The lock makes a second replay wait, and then see what this one has made.
  const webhook = await lockWebhook(tx, organizationId, webhookId);
  if (webhook === null) throw new ApiError('NOT_FOUND');
  let created = 0;
  let after: ReplayPosition | null = null;
  let complete = false;
  while (!complete && created < mostReplayed) {
    const limit = replayedAtOnce;
    const missed: MissedEvent[] = await selectMissedEvents(tx, organizationId, webhookId, {
      since,
      kinds: webhook.events,
      after,
      limit,
    });
    await insertMissed(tx, organizationId, webhookId, missed);
    created += missed.length;
    after = missed.at(-1) ?? after;
    complete = missed.length < limit;
  }
  return { id: webhookId, since: formatTimestamp(since), created, complete };
}

async function insertMissed(
  tx: Tx,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  events: readonly MissedEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const createdAt = await readClock(tx);
  const deliveries = events.map((event, index) => ({
    webhookId,
    // Numbered, so that they are sent in the order of their events.
    deliveryId: newTypeIdAt('dlv', createdAt, index),
    eventId: event.eventId,
    kind: event.kind,
    occurredAt: event.occurredAt,
    body: deliveryBody(event, webhookId),
  }));
  await insertReplayed(tx, organizationId, createdAt, deliveries);
}

/**
 * Sends made-up data once, now. Nothing is stored before it has ended, so that a test that a kill
 * interrupts leaves nothing behind that would be sent later.
 *
 * @returns what to record and to answer
 * @throws ApiError NOT_FOUND
 */
export async function sendTest(
  parts: AttemptParts & { db: Db; log: AttemptLog; readSecrets: SecretReader },
  organizationId: OrganizationId,
  webhookId: WebhookId,
  kind: EventKind,
): Promise<{ ended: EndedTest; response: string | null }> {
  const { db } = parts;
  const webhook = await inTransaction(db, (tx) => lockWebhook(tx, organizationId, webhookId));
  if (webhook === null) throw new ApiError('NOT_FOUND');
  const occurredAt = await readClock(db);
  const deliveryId = newTypeIdAt('dlv', occurredAt);
  const dataJson = JSON.stringify(sampleData[kind]);
  const body = deliveryBody({ kind, dataJson, occurredAt }, webhookId);
  const keys = parts.readSecrets({
    organizationId,
    webhookId,
    sealedSecret: webhook.secret,
    sealedPrevious: webhook.previousSecrets,
  });
  const result = await attemptDelivery(
    parts,
    { webhookId, url: webhook.url, keys },
    { deliveryId, body, occurredAtMs: occurredAt.getTime() },
    1,
    new AbortController().signal,
  );
  if (result.end.type === 'not made') {
    throw new Error('The secret of a webhook is unreadable.', { cause: result.cause });
  }
  const decision = decide(result.end, { attempt: 1, isManual: true }, [0]);
  const isSuccess = decision.next === 'success';
  const ended: EndedTest = {
    organizationId,
    webhookId,
    deliveryId,
    kind,
    body,
    occurredAt,
    eventId: randomUUID(),
    status: isSuccess ? 'success' : 'failed',
    statusCode: result.end.type === 'answered' ? result.end.statusCode : null,
    responseTimeMs: Math.round(result.endedAt - result.startedAt),
    lastError: 'error' in decision ? decision.error : null,
    response: isSuccess ? null : result.response,
  };
  writeAttemptLine(parts.log, {
    organizationId,
    webhookId,
    deliveryId,
    event: kind,
    url: webhook.url,
    attempt: 1,
    outcome: ended.status,
    statusCode: ended.statusCode,
    error: ended.lastError,
    responseTimeMs: ended.responseTimeMs,
    lagMs: 0,
    isTest: true,
  });
  return { ended, response: result.response };
}

/** Records a test send, in the transaction of its answer. */
export async function recordTest(
  tx: Tx,
  { ended, response }: { ended: EndedTest; response: string | null },
) {
  await insertEndedTest(tx, ended);
  return {
    deliveryId: ended.deliveryId,
    status: ended.status,
    statusCode: ended.statusCode,
    responseTime: ended.responseTimeMs,
    response,
    ...(ended.lastError !== null && { lastError: ended.lastError }),
  };
}
