/**
 * What becomes of a delivery after an attempt: the one place that decides it.
 *
 * 1. An answer of status 2xx, read to its end or to the limit, is a success. Nothing else is.
 * 2. Any other end of an attempt is a failure of the receiver's: the next attempt follows after the
 *    delay of the schedule, and after the last one the delivery has failed.
 * 3. An attempt by hand is one attempt: it succeeds or the delivery has failed.
 * 4. An attempt that we have not made, because we stop or can't, counts for nothing.
 */
import type { EgressFailure } from '../../platform/egress/egress-errors.ts';

/** How an attempt ended. */
export type AttemptEnd =
  | { readonly type: 'answered'; readonly statusCode: number }
  | { readonly type: 'unanswered'; readonly failure: EgressFailure }
  | { readonly type: 'not made'; readonly reason: 'given back' | 'unreadable secret' };

/** Failures without an answer, as `lastError` names them. With one it is `http_<status>`. */
export const unansweredErrors = [
  'timeout',
  'connection_refused',
  'connection_error',
  'dns_error',
  'tls_error',
  'blocked_address',
  'protocol_error',
] as const;

export type DeliveryError = (typeof unansweredErrors)[number] | `http_${number}`;

export type Decision =
  | { readonly next: 'success' }
  | { readonly next: 'failed'; readonly error: DeliveryError }
  | { readonly next: 'retry'; readonly error: DeliveryError; readonly delayMs: number }
  | { readonly next: 'release'; readonly delayMs: number };

/** A secret that can't be opened is mended by a person; until then there is no use in hurry. */
const unreadableDelayMs = 60_000;

/**
 * @param attempt the number of the attempt that has ended, from 1
 * @param scheduleMs the delay before each attempt, the first one's included
 */
export function decide(
  end: AttemptEnd,
  { attempt, isManual }: { attempt: number; isManual: boolean },
  scheduleMs: readonly number[],
): Decision {
  switch (end.type) {
    case 'not made':
      return { next: 'release', delayMs: end.reason === 'given back' ? 0 : unreadableDelayMs };
    case 'answered':
      if (end.statusCode >= 200 && end.statusCode <= 299) return { next: 'success' };
      return afterFailure(`http_${end.statusCode}`);
    case 'unanswered':
      return afterFailure(errorOf(end.failure));
    default:
      throw end satisfies never;
  }

  function afterFailure(error: DeliveryError): Decision {
    const delayMs = scheduleMs[attempt];
    if (isManual || delayMs === undefined) return { next: 'failed', error };
    return { next: 'retry', error, delayMs };
  }
}

function errorOf(failure: EgressFailure): DeliveryError {
  switch (failure) {
    // A stored URL was good once: the guard refuses what the operator's exceptions no longer cover.
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
      return failure;
    default:
      throw failure satisfies never;
  }
}
