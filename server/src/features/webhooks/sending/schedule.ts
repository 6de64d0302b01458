/**
 * Decides what happens to a delivery after an attempt.
 *
 * 1. A response with status 2xx that was read to its end or to the limit is a success, as is a
 *    broker's confirmation. Nothing else is.
 * 2. Any other end of an attempt is the receiver's failure: the next attempt follows after the
 *    scheduled delay. After the last one, the delivery has failed.
 * 3. A manual retry is a single attempt: it succeeds or the delivery has failed.
 * 4. An attempt that was not made, because of a shutdown or a problem on our side, is not counted.
 * 5. Status 410 ends the delivery as failed.
 * 6. `Retry-After` of a 429 or 503 may move the next attempt later than scheduled, up to the delay
 *    of the following step, but never earlier.
 * 7. A delivery of a kind that the webhook no longer subscribes to is parked.
 */
import type { DestinationFailure } from './destinations/driver.ts';

export type AttemptEnd =
  | { readonly type: 'answered'; readonly statusCode: number; readonly retryAfterMs: number | null }
  /** Success at a destination that has no statuses. */
  | { readonly type: 'confirmed'; readonly statusCode: null }
  | {
      readonly type: 'unanswered';
      readonly failure: DestinationFailure;
      /** Set if the response broke off after its headers. */
      readonly statusCode: number | null;
    }
  | { readonly type: 'not made'; readonly reason: NotMadeReason };

export type NotMadeReason = 'released' | 'unreadable secret' | 'unsubscribed';

/** Failures without a response, as named in `lastError`. With a response, it is `http_<status>`. */
export const unansweredErrors = [
  'timeout',
  'connection_refused',
  'connection_error',
  'dns_error',
  'tls_error',
  'blocked_address',
  'protocol_error',
  'rejected',
  'token_error',
] as const;

export type DeliveryError = (typeof unansweredErrors)[number] | `http_${number}`;

export type Decision =
  | { readonly next: 'success' }
  | { readonly next: 'failed'; readonly error: DeliveryError }
  | { readonly next: 'retry'; readonly error: DeliveryError; readonly delayMs: number }
  | { readonly next: 'release'; readonly delayMs: number }
  | { readonly next: 'park' };

/** A person must fix a secret that can't be decrypted, so there is no hurry. */
const unreadableDelayMs = 60_000;

/**
 * @param attempt number of the attempt that has ended, from 1
 * @param scheduleMs the delay before each attempt, including the first
 */
export function decideNext(
  end: AttemptEnd,
  { attempt, isManual }: { attempt: number; isManual: boolean },
  scheduleMs: readonly number[],
): Decision {
  switch (end.type) {
    case 'not made':
      if (end.reason === 'unsubscribed') return { next: 'park' };
      return { next: 'release', delayMs: end.reason === 'released' ? 0 : unreadableDelayMs };
    case 'confirmed':
      return { next: 'success' };
    case 'answered':
      if (end.statusCode >= 200 && end.statusCode <= 299) return { next: 'success' };
      if (end.statusCode === 410) return { next: 'failed', error: 'http_410' };
      return afterFailure(`http_${end.statusCode}`, end.retryAfterMs);
    case 'unanswered':
      return afterFailure(errorOf(end.failure));
    default:
      throw end satisfies never;
  }

  function afterFailure(error: DeliveryError, retryAfterMs: number | null = null): Decision {
    const delayMs = scheduleMs[attempt];
    if (isManual || delayMs === undefined) return { next: 'failed', error };
    const maxDelayMs = Math.max(delayMs, scheduleMs[attempt + 1] ?? delayMs);
    const askedMs = Math.min(retryAfterMs ?? 0, maxDelayMs);
    return { next: 'retry', error, delayMs: Math.max(delayMs, askedMs) };
  }
}

function errorOf(failure: DestinationFailure): DeliveryError {
  switch (failure) {
    // A stored URL was valid once; it is now rejected because an operator's exception was removed.
    case 'invalid_url':
      return 'blocked_address';
    case 'too_large':
    case 'too_many_redirects':
      return 'protocol_error';
    case 'timeout':
    case 'connection_refused':
    case 'connection_error':
    case 'dns_error':
    case 'tls_error':
    case 'blocked_address':
    case 'protocol_error':
    case 'rejected':
    case 'token_error':
      return failure;
    default:
      throw failure satisfies never;
  }
}

/**
 * Parses `Retry-After`: seconds or an HTTP date (RFC 9110, 10.2.3). Returns null if it is absent,
 * invalid, or not on a 429 or 503.
 */
export function readRetryAfter(
  statusCode: number,
  header: string | string[] | undefined,
  nowMs: number,
): number | null {
  if ((statusCode !== 429 && statusCode !== 503) || typeof header !== 'string') return null;
  const value = header.trim();
  // Any number of digits is accepted, because the caller has its own limit.
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const at = readHttpDate(value);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

/**
 * Parses the three date formats of RFC 9110, 5.6.7, including the obsolete ones. `Date.parse`
 * accepts all of them, but also much that is not an HTTP date, and would read the last format as
 * local time.
 */
function readHttpDate(value: string): number {
  if (value.endsWith(' GMT')) return Date.parse(value);
  const isAsctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/.test(value);
  return isAsctime ? Date.parse(`${value} GMT`) : Number.NaN;
}
