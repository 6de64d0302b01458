/**
 * The limits of bulk operations: in no window of 60 seconds does an organization get more than 60
 * requests or 1,000 items accepted, on however many processes. The counting is in the database
 * function `take_bulk_allowance` (functions.sql); here are the numbers, and how they are told to the client.
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

/** The remaining allowance after an accepted request, or why it was refused. */
export type Allowance = {
  isAccepted: boolean;
  /** The database's clock was set back, and what was counted has been moved with it. */
  clockWentBack: boolean;
  requestsLeft: number;
  itemsLeft: number;
  /** Until the oldest accepted request leaves the window; 0 when there is none. */
  nextFreeMs: number;
  /** Until a refused request would be accepted; 0 when it was. */
  retryAfterMs: number;
};

export function askFor(newItems: number): AllowanceRequest {
  return { requests, itemsInAll, windowSeconds, newItems };
}

/** RateLimit and RateLimit-Policy, as the IETF's draft writes them: two policies, both in force. */
export function allowanceHeaders(allowance: Allowance): Record<string, string> {
  const { requestsLeft, itemsLeft, nextFreeMs } = allowance;
  const t = wholeSeconds(nextFreeMs);
  return {
    'ratelimit-policy': `"requests";q=${requests};w=${windowSeconds}, "items";q=${itemsInAll};w=${windowSeconds}`,
    ratelimit: `"requests";r=${requestsLeft};t=${t}, "items";r=${itemsLeft};t=${t}`,
  };
}

/** A request that was refused and counts for nothing: its transaction rolls back. */
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

/** Rounded up, so that nobody who waits so long comes too early. */
function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}
