import { isRecord, isTransientStatus, ReelfeedError } from './errors.ts';
import { type TrackedEvent } from './events.ts';

/** An event that the service rejected; it is not sent again. */
export type RefusedEvent = {
  readonly event: TrackedEvent;
  /**
   * Codes of the service are `VALIDATION_ERROR`, `NOT_FOUND`, `EVENT_TOO_OLD`, `UNAUTHORIZED` etc.
   * The client adds `NOT_JSON` for an event that cannot be written as JSON.
   */
  readonly code: string;
  readonly message: string;
};

/** The outcome of one request: the rejections by index in the batch, or no usable response. */
export type BatchOutcome =
  | { readonly name: 'answered'; readonly refusalOf: (index: number) => Refusal | null }
  | {
      readonly name: 'unanswered';
      readonly retryAfterMs: number;
      /** Whether the request took too long, so that a smaller one may succeed. */
      readonly isTooSlow: boolean;
    };

export type Refusal = Pick<RefusedEvent, 'code' | 'message'>;

/** Determines the outcome of a request. Throws anything that is not a request failure. */
export async function outcomeOf(request: Promise<unknown>): Promise<BatchOutcome> {
  try {
    return readOutcome(await request);
  } catch (error) {
    if (!(error instanceof ReelfeedError)) throw error;
    const { code, message } = error;
    if (isFinal(error)) return { name: 'answered', refusalOf: () => ({ code, message }) };
    const isTooSlow = error.code === 'TIMEOUT' || error.status === 408;
    return { name: 'unanswered', retryAfterMs: error.retryAfterMs ?? 0, isTooSlow };
  }
}

/**
 * Whether the request itself is wrong. Everything else may be temporary, and retrying is safe,
 * including a proxy's 502 or the login page of a hotel network.
 */
function isFinal({ status }: ReelfeedError): boolean {
  return status !== null && status >= 400 && status < 500 && !isTransientStatus(status);
}

function readOutcome(body: unknown): BatchOutcome {
  const data = isRecord(body) ? body['data'] : undefined;
  if (!isRecord(data) || typeof data['received'] !== 'number' || !Array.isArray(data['errors'])) {
    return { name: 'unanswered', retryAfterMs: 0, isTooSlow: false };
  }
  const refusals = new Map<unknown, Refusal>();
  for (const refusal of data['errors'].filter(isRecord)) {
    const { index, code, message } = refusal;
    refusals.set(index, { code: String(code), message: String(message) });
  }
  return { name: 'answered', refusalOf: (index) => refusals.get(index) ?? null };
}
