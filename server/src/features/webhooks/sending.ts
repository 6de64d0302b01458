/** One claimed delivery on its way: what is recorded about its attempt, and what the log says. */
import type { Logger } from 'pino';
import type { AttemptResult } from './attempt.ts';
import type { EndedAttempt, RecordFate } from './recorder.ts';
import { decide } from './schedule.ts';
import type { DeliveryReport } from './sender-options.ts';
import type { ClaimedDelivery, ClaimedWebhook } from './sending-queries.ts';

export type Sending = {
  /** Who has claimed it: the fence of what is recorded. */
  readonly senderId: string;
  readonly webhook: ClaimedWebhook;
  readonly claim: ClaimedDelivery;
  /** By the process's monotonic clock. */
  readonly claimedAt: number;
  result: AttemptResult | null;
};

/** The number of the attempt that a claim is for, from 1. */
export function attemptNumber({ attempts, isManual }: ClaimedDelivery): number {
  return isManual ? attempts : attempts + 1;
}

/** What is written down about an attempt that has ended. */
export function toRecord(
  { senderId, webhook, claim }: Sending,
  { end, startedAt, endedAt, response }: AttemptResult,
  scheduleMs: readonly number[],
): EndedAttempt {
  const attempt = attemptNumber(claim);
  const decision = decide(end, { attempt, isManual: claim.isManual }, scheduleMs);
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
    statusCode: end.type === 'answered' ? end.statusCode : null,
    responseTimeMs: Math.round(endedAt - startedAt),
    error: 'error' in decision ? decision.error : null,
    // What a receiver says to a success interests nobody and would fill the log.
    response: decision.next === 'success' ? null : response,
  };
}

export function reportOf(
  { next, error, startedAt, endedAt }: EndedAttempt,
  sending: Sending,
  fate: RecordFate,
): DeliveryReport {
  const outcome = fate === 'written' ? next : fate;
  return { outcome, error, lagMs: lagOf(sending, startedAt), durationMs: endedAt - startedAt };
}

/** From the moment the attempt was due to its start: to its claim, and then to its turn. */
function lagOf({ claim, claimedAt }: Sending, startedAt: number): number {
  return claim.lagMs + Math.max(0, startedAt - claimedAt);
}

/** One wide line. A secret that can't be opened is for a person to mend. */
export function logAttempt(
  log: Logger,
  attempt: EndedAttempt,
  sending: Sending,
  fate: RecordFate,
): void {
  const { webhook, claim, result } = sending;
  const outcome = fate === 'written' ? attempt.next : fate;
  const isUnreadable = result?.end.type === 'not made' && result.end.reason !== 'given back';
  const level = isUnreadable ? 'error' : outcome === 'failed' ? 'warn' : 'info';
  if (!log.isLevelEnabled(level)) return;
  const fields = {
    organizationId: webhook.organizationId,
    webhookId: claim.webhookId,
    deliveryId: claim.deliveryId,
    event: claim.kind,
    // The rest of a URL may hold a token.
    host: URL.parse(webhook.url)?.host ?? null,
    attempt: attempt.attempt,
    outcome,
    statusCode: attempt.statusCode,
    error: attempt.error,
    responseTimeMs: attempt.responseTimeMs,
    lagMs: Math.round(lagOf(sending, attempt.startedAt)),
    ...(attempt.next === 'retry' && { nextAttemptInMs: attempt.delayMs }),
    ...(isUnreadable && { err: result.cause }),
  };
  log[level](fields, 'webhook attempt');
}
