/**
 * The limits of bulk operations: in any window of 60 seconds, at most 60 requests and 1,000 items
 * of an organization are accepted, however many processes run. The database function
 * `take_bulk_allowance` (functions.sql) does the counting; this file defines the numbers and the
 * response headers.
 */
import { ApiError } from '../../platform/http/errors.ts';

const windowSeconds = 60;
const requests = 60;
const itemsInAll = 1_000;

export type AllowanceRequest = {
  requests: number;
  itemsInAll: number;
  windowSeconds: number;
  newItems: number;
};

/** The remaining allowance after an accepted request, or the reason for a rejection. */
export type Allowance = {
  isAccepted: boolean;
  /** True if the database's clock was set back and the counted entries were moved with it. */
  clockWentBack: boolean;
  requestsLeft: number;
  itemsLeft: number;
  /** Time until the oldest accepted request leaves the window; 0 if there is none. */
  nextFreeMs: number;
  /** Time until a rejected request would be accepted; 0 if it was accepted. */
  retryAfterMs: number;
};

export function askFor(newItems: number): AllowanceRequest {
  return { requests, itemsInAll, windowSeconds, newItems };
}

/** The headers RateLimit and RateLimit-Policy of the IETF draft, with both policies. */
export function allowanceHeaders(allowance: Allowance): Record<string, string> {
  const { requestsLeft, itemsLeft, nextFreeMs } = allowance;
  const t = wholeSeconds(nextFreeMs);
  return {
    'ratelimit-policy': `"requests";q=${requests};w=${windowSeconds}, "items";q=${itemsInAll};w=${windowSeconds}`,
    ratelimit: `"requests";r=${requestsLeft};t=${t}, "items";r=${itemsLeft};t=${t}`,
  };
}

/** Thrown for a rejected request. Its transaction rolls back, so it does not count. */
export class AllowanceRefusal extends ApiError {
  readonly clockWentBack: boolean;

  constructor(allowance: Allowance) {
    const limit = allowance.requestsLeft < 1 ? `${requests} requests` : `${itemsInAll} items`;
    super('RATE_LIMITED', {
      message: `Bulk operations are limited to ${limit} in ${windowSeconds} seconds.`,
      headers: {
        ...allowanceHeaders(allowance),
        'retry-after': String(Math.max(1, wholeSeconds(allowance.retryAfterMs))),
      },
    });
    this.clockWentBack = allowance.clockWentBack;
  }
}

/** Rounded up, so that a client that waits this long is never too early. */
function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}
