/** One claimed delivery being sent: the record and the log line of its attempt. */
import type { Logger } from 'pino';
import type { BagMember } from '../../../platform/memory/bag.ts';
import { writeAttemptLine } from './attempt-log.ts';
import type { AttemptResult } from './attempt.ts';
import type { AttemptRecord } from './record-queries.ts';
import type { RecordFate } from './recorder.ts';
import { decideNext, type Decision, type NotMadeReason } from './schedule.ts';
import type { DeliveryReport } from './sender-options.ts';
import { noHeaders } from './shown-headers.ts';
import type { ClaimedDelivery, ClaimedWebhook } from './claim-queries.ts';
import type { OpenedSecrets } from '../endpoints/secrets.ts';
import type { SendResult } from './slots.ts';

/** A webhook with deliveries being sent. */
export type SendingWebhook = ClaimedWebhook &
  OpenedSecrets & {
    /** Start of the latest query that found this state, by the process's monotonic clock. */
    readAt: number;
  };

export type Sending = BagMember & {
  /** The claiming sender, which fences the record. */
  readonly senderId: string;
  readonly webhook: SendingWebhook;
  readonly claim: ClaimedDelivery;
  /** By the process's monotonic clock. */
  readonly claimedAt: number;
  /** Whether the request has started. After that, changes to the webhook no longer matter. */
  hasBegun: boolean;
  result: AttemptResult | null;
};

export function newSending(
  senderId: string,
  webhook: SendingWebhook,
  claim: ClaimedDelivery,
  claimedAt: number,
): Sending {
  return { senderId, webhook, claim, claimedAt, hasBegun: false, result: null, place: 0 };
}

/** The number of the attempt that a claim is for, from 1. */
export function attemptNumber({ attempts, isManual }: ClaimedDelivery): number {
  return isManual ? attempts : attempts + 1;
}

/** The result of a delivery that is given back without an attempt. */
export function notMade(reason: NotMadeReason): AttemptResult {
  const now = performance.now();
  const end = { type: 'not made', reason } as const;
  return { end, startedAt: now, endedAt: now, response: null, headers: noHeaders, cause: null };
}

/** The record of an attempt that has ended. */
export function toRecord(
  { senderId, webhook, claim }: Sending,
  { end, startedAt, endedAt, response, headers }: AttemptResult,
  scheduleMs: readonly number[],
): AttemptRecord {
  const attempt = attemptNumber(claim);
  const own = webhook.options.retrySchedule?.map((delayS) => delayS * 1_000);
  const decision = decideNext(end, { attempt, isManual: claim.isManual }, own ?? scheduleMs);
  return {
    organizationId: webhook.organizationId,
    webhookId: claim.webhookId,
    deliveryId: claim.deliveryId,
    senderId,
    attempts: claim.attempts,
    attempt,
    next: decision.next,
    delayMs: 'delayMs' in decision ? decision.delayMs : 0,
    startedAt,
    endedAt,
    statusCode: end.type === 'not made' ? null : end.statusCode,
    responseTimeMs: Math.round(endedAt - startedAt),
    error: 'error' in decision ? decision.error : null,
    failingSinceS: webhook.failingSinceS,
    claimedAtS: webhook.claimedAtS,
    // Responses to successes are of no interest and would fill the log.
    response: decision.next === 'success' ? null : response,
    headers,
  };
}

/** Classifies the receiver by how a send ended. */
export function slotResult(next: Decision['next']): SendResult {
  if (next === 'release' || next === 'park') return 'not made';
  return next === 'success' ? 'success' : 'failure';
}

export function reportOf(
  { next, error, startedAt, endedAt }: AttemptRecord,
  sending: Sending,
  fate: RecordFate,
): DeliveryReport {
  const outcome = fate === 'written' ? next : fate;
  return { outcome, error, lagMs: lagOf(sending, startedAt), durationMs: endedAt - startedAt };
}

/** Delay from the due time to the start of the attempt: until the claim, then until its turn. */
function lagOf({ claim, webhook, claimedAt }: Sending, startedAt: number): number {
  const beforeClaimMs = Math.max(0, webhook.claimedAtS - claim.dueAtS) * 1_000;
  return beforeClaimMs + Math.max(0, startedAt - claimedAt);
}

/** A person must fix a secret that can't be decrypted. */
export function logAttempt(
  log: Logger,
  attempt: AttemptRecord,
  sending: Sending,
  fate: RecordFate,
): void {
  const { webhook, claim, result } = sending;
  const isUnreadable = result?.end.type === 'not made' && result.end.reason === 'unreadable secret';
  writeAttemptLine(log, {
    organizationId: webhook.organizationId,
    webhookId: claim.webhookId,
    deliveryId: claim.deliveryId,
    event: claim.kind,
    url: webhook.url,
    attempt: attempt.attempt,
    outcome: fate === 'written' ? attempt.next : fate,
    statusCode: attempt.statusCode,
    error: attempt.error,
    responseTimeMs: attempt.responseTimeMs,
    lagMs: Math.round(lagOf(sending, attempt.startedAt)),
    ...(attempt.next === 'retry' && { nextAttemptInMs: attempt.delayMs }),
    ...(isUnreadable && { err: result.cause }),
  });
}
