/** A field that the service rejected, as named by the service. */
export type ErrorDetail = {
  readonly path: string;
  readonly message: string;
};

export type ReelfeedErrorFields = {
  readonly code: string;
  readonly message: string;
  readonly status: number | null;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
  readonly details: readonly ErrorDetail[];
  readonly cause?: unknown;
};

/**
 * A call that failed after all retries. `code` is the service's (`UNAUTHORIZED`, `RATE_LIMITED`, …)
 * or one of the client's: `NETWORK_ERROR` and `TIMEOUT` if no response arrived, `INVALID_RESPONSE`
 * if the response did not come from the service. `status` is null if there was no response.
 */
export class ReelfeedError extends Error {
  override readonly name = 'ReelfeedError';
  readonly code: string;
  readonly status: number | null;
  readonly requestId: string | null;
  /** The wait that the service requested, or null if it requested none. */
  readonly retryAfterMs: number | null;
  readonly details: readonly ErrorDetail[];

  constructor(fields: ReelfeedErrorFields) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.code = fields.code;
    this.status = fields.status;
    this.requestId = fields.requestId;
    this.retryAfterMs = fields.retryAfterMs;
    this.details = fields.details;
  }

  /** Whether a retry may help: nothing was wrong with the request itself. */
  get isTransient(): boolean {
    return this.status === null
      ? this.code !== 'INVALID_RESPONSE'
      : isTransientStatus(this.status) || this.status === 503;
  }
}

/** Temporary 4xx rejections: the request was too slow, too early or too frequent. */
export function isTransientStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429;
}

/** Converts a non-2xx response into an error. Responses not from the service keep their status. */
export function errorFromResponse(response: Response, body: unknown): ReelfeedError {
  const error = isRecord(body) && isRecord(body['error']) ? body['error'] : {};
  const meta = isRecord(body) && isRecord(body['meta']) ? body['meta'] : {};
  return new ReelfeedError({
    code: textOr(error['code'], `HTTP_${response.status}`),
    message: textOr(error['message'], `The service responded with status ${response.status}.`),
    status: response.status,
    requestId: textOr(meta['requestId'], response.headers.get('x-request-id')),
    retryAfterMs: parseRetryAfterMs(response.headers.get('retry-after'), Date.now()),
    details: Array.isArray(error['details']) ? error['details'].filter(isErrorDetail) : [],
  });
}

/** Parses `Retry-After` (whole seconds or an HTTP date). Null if absent or malformed. */
export function parseRetryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isErrorDetail(value: unknown): value is ErrorDetail {
  return (
    isRecord(value) && typeof value['path'] === 'string' && typeof value['message'] === 'string'
  );
}

function textOr<T extends string | null>(value: unknown, fallback: T): string | T {
  return typeof value === 'string' && value !== '' ? value : fallback;
}
