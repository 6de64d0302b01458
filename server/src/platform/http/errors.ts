/**
 * Errors that any route may return: code, HTTP status, default message. Each feature declares its
 * own with `defineErrors`, and `app/features.ts` combines them into the error catalogue of the API.
 * Domain code throws an `ApiError`; the edge converts everything else into one.
 */

type ErrorRule = {
  readonly status: number;
  readonly message: string;
  /** Advice for clients, if the advice for the status is not enough. Code is in backticks. */
  readonly advice?: string;
};

/** One entry of the catalogue. */
export type ErrorKind = ErrorRule & { readonly code: string };

/** Declares error codes: `throw new ApiError(errors.CONTENT_NOT_READY)`. */
export function defineErrors<const Rules extends Readonly<Record<string, ErrorRule>>>(
  rules: Rules,
): { readonly [Code in keyof Rules]: ErrorKind } {
  const kinds = Object.entries(rules).map(([code, rule]) => [code, { code, ...rule }]);
  return Object.fromEntries(kinds) as { [Code in keyof Rules]: ErrorKind };
}

export const platformErrors = defineErrors({
  INVALID_REQUEST: { status: 400, message: 'The request is malformed.' },
  VALIDATION_ERROR: { status: 400, message: 'A field of the request is not valid.' },
  LIMIT_EXCEEDED: { status: 400, message: 'The request exceeds a limit.' },
  INVALID_CURSOR: { status: 400, message: 'The cursor is damaged or belongs to another list.' },
  UNAUTHORIZED: {
    status: 401,
    message: 'A valid key is required: Authorization: Bearer <key>.',
  },
  KEY_REVOKED: { status: 401, message: 'This key has been revoked.' },
  KEY_EXPIRED: { status: 401, message: 'This key has expired.' },
  FORBIDDEN: { status: 403, message: 'This route requires a secret key.' },
  NOT_FOUND: { status: 404, message: 'There is no such resource.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This route does not support that method.' },
  REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },
  CONFLICT: { status: 409, message: 'The resource is in a state that does not allow this.' },
  IDEMPOTENCY_IN_FLIGHT: {
    status: 409,
    message: 'A request with this Idempotency-Key is still being processed.',
  },
  PRECONDITION_FAILED: {
    status: 412,
    message: 'The resource has changed since the version named in If-Match.',
  },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The request body is too large.' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'The Content-Type of the request is not supported here.',
  },
  RANGE_NOT_SATISFIABLE: { status: 416, message: 'The range is outside the file.' },
  EXPECTATION_FAILED: {
    status: 417,
    message: 'The only supported expectation is 100-continue.',
  },
  IDEMPOTENCY_MISMATCH: {
    status: 422,
    message: 'This Idempotency-Key was used for another request.',
  },
  RATE_LIMITED: { status: 429, message: 'Too many requests.' },
  HEADERS_TOO_LARGE: { status: 431, message: 'The request headers are too large.' },
  INTERNAL_ERROR: { status: 500, message: 'Something went wrong on our side.' },
  UNAVAILABLE: { status: 503, message: 'The service is temporarily unavailable. Try again.' },
  INSUFFICIENT_STORAGE: {
    status: 507,
    message: 'The server has no space for these bytes. Nothing was stored.',
  },
});

export type PlatformErrorCode = keyof typeof platformErrors;
export type ErrorDetail = { path: string; message: string };

export const errorDetailExample: ErrorDetail = { path: 'title', message: 'is required' };

export type ErrorEnvelope = {
  error: { code: string; message: string; details?: readonly ErrorDetail[] };
  meta: { requestId: string };
};

type ApiErrorOptions = {
  message?: string;
  /** Overrides the status of the catalogue. */
  statusCode?: number;
  details?: readonly ErrorDetail[];
  headers?: Record<string, string>;
  cause?: unknown;
};

/** An error that clients may see: its message contains no path, SQL or stack. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: string;
  readonly statusCode: number;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly headers: Record<string, string>;

  constructor(error: PlatformErrorCode | ErrorKind, options: ApiErrorOptions = {}) {
    const kind = typeof error === 'string' ? platformErrors[error] : error;
    super(options.message ?? kind.message, { cause: options.cause });
    this.code = kind.code;
    this.statusCode = options.statusCode ?? kind.status;
    this.details = options.details;
    this.headers = options.headers ?? defaultHeaders(kind);
  }

  envelope(requestId: string): ErrorEnvelope {
    const details = this.details === undefined ? {} : { details: this.details };
    return {
      error: { code: this.code, message: this.message, ...details },
      meta: { requestId },
    };
  }
}

function defaultHeaders({ code, status }: ErrorKind): Record<string, string> {
  if (status === 401) return { 'www-authenticate': 'Bearer' };
  if (code === 'UNAVAILABLE') return { 'retry-after': '1' };
  // An operator has to free space first.
  if (code === 'INSUFFICIENT_STORAGE') return { 'retry-after': '10' };
  return {};
}

/** A 400 for one field, in the format that schema validation uses for several. */
export function fieldError(path: string, message: string): ApiError {
  return new ApiError('VALIDATION_ERROR', {
    message: `${path}: ${message}`,
    details: [{ path, message }],
  });
}

/** The error code for an HTTP status that a library has chosen. */
export function codeForStatus(status: number): PlatformErrorCode {
  const codes = Object.keys(platformErrors) as PlatformErrorCode[];
  const found = codes.find((code) => platformErrors[code].status === status);
  return found ?? (status >= 500 ? 'INTERNAL_ERROR' : 'INVALID_REQUEST');
}
