/**
 * Test sends: example data, sent immediately and only once. Nothing is stored until the send has
 * ended, so that a test interrupted by a crash is not sent later.
 */
import { randomUUID } from 'node:crypto';
import { inTransaction, type Db, type Tx } from '../../../platform/database/database.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import { newTypeIdAt, type OrganizationId, type WebhookId } from '../../../platform/values/ids.ts';
import { writeAttemptLine, type AttemptLog } from '../sending/attempt-log.ts';
import {
  attemptDelivery,
  type AttemptParts,
  type AttemptResult,
  type Outgoing,
} from '../sending/attempt.ts';
import { insertEndedTest, readClock, type EndedTest } from './delivery-queries.ts';
import { deliveryBody, type EventCatalogue } from '../outbox/event-kinds.ts';
import type { WebhookEventKind } from '../webhooks.ts';
import { lockWebhook } from '../endpoints/endpoint-queries.ts';
import { getWebhook } from '../endpoints/endpoints.ts';
import { decideNext } from '../sending/schedule.ts';
import type { SecretReader } from '../endpoints/secrets.ts';
import { OutdatedStateError, type WebhookChanges } from '../endpoints/endpoint-changes.ts';

export type TestSendParts = AttemptParts & {
  db: Db;
  readSecrets: SecretReader;
  catalogue: EventCatalogue;
  changes: WebhookChanges;
};

export type SentTest = { ended: EndedTest; response: string | null };

/** Maximum concurrent test sends in this process. */
const maxPerOrganization = 10;
const maxInAll = 100;
/** Connecting may take longer than a state is valid. The state is then read again. */
const maxReads = 20;

export class TestSends {
  readonly #parts: TestSendParts;
  readonly #underWay = new Map<OrganizationId, number>();
  #inAll = 0;

  constructor(parts: TestSendParts) {
    this.#parts = parts;
  }

  /**
   * @returns what to record, and the response
   * @throws {ApiError} NOT_FOUND, CONFLICT, RATE_LIMITED
   */
  async send(
    organizationId: OrganizationId,
    webhookId: WebhookId,
    kind: WebhookEventKind,
    log: AttemptLog,
  ): Promise<SentTest> {
    const underWay = this.#underWay.get(organizationId) ?? 0;
    if (underWay >= maxPerOrganization || this.#inAll >= maxInAll) throw tooMany();
    this.#underWay.set(organizationId, underWay + 1);
    this.#inAll += 1;
    try {
      return await sendTest(this.#parts, organizationId, webhookId, kind, log);
    } finally {
      this.#inAll -= 1;
      const left = (this.#underWay.get(organizationId) ?? 1) - 1;
      if (left === 0) this.#underWay.delete(organizationId);
      else this.#underWay.set(organizationId, left);
    }
  }
}

function tooMany(): ApiError {
  return new ApiError('RATE_LIMITED', {
    message: `An organization can have at most ${maxPerOrganization} test sends in progress.`,
    headers: { 'retry-after': '1' },
  });
}

async function sendTest(
  parts: TestSendParts,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  kind: WebhookEventKind,
  log: AttemptLog,
): Promise<SentTest> {
  const occurredAt = await readClock(parts.db);
  const deliveryId = newTypeIdAt('dlv', occurredAt);
  const eventId = randomUUID();
  const { payloadVersion } = (await getWebhook(parts.db, organizationId, webhookId)).options;
  const dataJson = JSON.stringify(parts.catalogue.exampleOf(kind));
  const body = deliveryBody(
    { eventId, kind, dataJson, occurredAt, isTest: true },
    webhookId,
    payloadVersion,
  );
  const outgoing = { deliveryId, kind, body, occurredAtMs: occurredAt.getTime() };
  const { url, result } = await attemptUnderCurrentState(
    parts,
    organizationId,
    webhookId,
    outgoing,
  );
  if (result.end.type === 'not made') {
    throw new Error('The secret of a webhook cannot be decrypted.', { cause: result.cause });
  }
  const decision = decideNext(result.end, { attempt: 1, isManual: true }, [0]);
  const isSuccess = decision.next === 'success';
  const ended: EndedTest = {
    organizationId,
    webhookId,
    deliveryId,
    kind,
    body,
    occurredAt,
    eventId,
    status: isSuccess ? 'success' : 'failed',
    statusCode: result.end.statusCode,
    responseTimeMs: Math.round(result.endedAt - result.startedAt),
    lastError: 'error' in decision ? decision.error : null,
    response: isSuccess ? null : result.response,
    headers: result.headers,
  };
  writeAttemptLine(log, {
    organizationId,
    webhookId,
    deliveryId,
    event: kind,
    url,
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

/**
 * Makes one attempt, whose request begins under a current state of the webhook. If connecting takes
 * longer than the state is valid, the state is read again, and the next try finds the connection
 * open.
 * @throws {ApiError} NOT_FOUND, CONFLICT
 */
async function attemptUnderCurrentState(
  parts: TestSendParts,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  outgoing: Outgoing,
): Promise<{ url: string; result: AttemptResult }> {
  const { db, changes } = parts;
  const signal = new AbortController().signal;
  const startedAt = performance.now();
  for (let read = 1; ; read += 1) {
    const readAt = performance.now();
    const webhook = await inTransaction(db, (tx) => lockWebhook(tx, organizationId, webhookId));
    if (webhook === null) throw new ApiError('NOT_FOUND');
    if (webhook.status !== 'active') {
      throw new ApiError('CONFLICT', { message: 'The webhook was disabled in the meantime.' });
    }
    const secrets = parts.readSecrets({
      organizationId,
      webhookId,
      sealedSecret: webhook.secret,
      sealedPrevious: webhook.previousSecrets,
      sealedHeaders: webhook.sealedHeaders,
      sealedCredentials: webhook.sealedCredentials,
    });
    let isOutdated = false;
    const onBegin = (): void => {
      isOutdated = !changes.isCurrent(webhookId, readAt);
      if (isOutdated) throw new OutdatedStateError();
    };
    const { url } = webhook;
    const destination = { organizationId, webhookId, url, options: webhook.options, ...secrets };
    const options = { attempt: 1, isTest: true, signal, onBegin };
    const result = await attemptDelivery(parts, destination, outgoing, options);
    if (!isOutdated) return { url, result: { ...result, startedAt } };
    if (read === maxReads) {
      throw new ApiError('UNAVAILABLE', { message: 'The webhook kept changing. Try again.' });
    }
  }
}

/** Records a test send, in the same transaction as its response. */
export async function recordTest(tx: Tx, { ended, response }: SentTest) {
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
