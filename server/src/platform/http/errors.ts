/**
 * The catalogue of every error that the API answers: code, HTTP status, default message.
 * Domain code throws an `ApiError` by its code; the edge turns anything else into one.
 */

const catalogue = {
  INVALID_REQUEST: { status: 400, message: 'The request is malformed.' },
  VALIDATION_ERROR: { status: 400, message: 'A field of the request is not valid.' },
  LIMIT_EXCEEDED: { status: 400, message: 'The request exceeds a limit.' },
  UNKNOWN_EVENT: { status: 400, message: 'There is no such kind of event.' },
  EVENT_TOO_OLD: { status: 400, message: 'The event happened more than 24 hours ago.' },
  INVALID_CURSOR: { status: 400, message: 'The cursor is damaged or belongs to another list.' },
  UNAUTHORIZED: {
    status: 401,
    message: 'A valid key is required: Authorization: Bearer <key>.',
  },
  KEY_REVOKED: { status: 401, message: 'This key has been revoked.' },
  KEY_EXPIRED: { status: 401, message: 'This key has expired.' },
  FORBIDDEN: { status: 403, message: 'This route needs a secret key.' },
  NOT_FOUND: { status: 404, message: 'There is no such resource.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This route does not have that method.' },
  REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },
  CONFLICT: { status: 409, message: 'The resource is in a state that does not allow this.' },
  CONTENT_NOT_READY: { status: 409, message: 'The content item is not ready yet.' },
  NOT_PROTECTED: { status: 409, message: 'The content item is not protected.' },
  DELIVERY_PENDING: { status: 409, message: 'The delivery has not ended yet.' },
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
  RANGE_NOT_SATISFIABLE: { status: 416, message: 'The file does not reach that range.' },
  IDEMPOTENCY_MISMATCH: {
    status: 422,
    message: 'This Idempotency-Key was used for another request.',
  },
  INVALID_MEDIA: { status: 422, message: 'The bytes are no supported media.' },
  RATE_LIMITED: { status: 429, message: 'Too many requests.' },
  HEADERS_TOO_LARGE: { status: 431, message: 'The request headers are too large.' },
  INTERNAL_ERROR: { status: 500, message: 'Something went wrong on our side.' },
  UNAVAILABLE: { status: 503, message: 'The service is not available right now. Try again.' },
  INSUFFICIENT_STORAGE: {
    status: 507,
    message: 'The server has no room for these bytes. Nothing was stored.',
  },
} as const;

export type ErrorCode = keyof typeof catalogue;
export type ErrorDetail = { path: string; message: string };

export const errorCodes = Object.keys(catalogue) as ErrorCode[];

export type ErrorEnvelope = {
  error: { code: ErrorCode; message: string; details?: readonly ErrorDetail[] };
  meta: { requestId: string };
};

type ApiErrorOptions = {
  message?: string;
  /** Where the status of the catalogue does not fit. */
  statusCode?: number;
  details?: readonly ErrorDetail[];
  headers?: Record<string, string>;
  cause?: unknown;
};

/** An error that a client may see: its message holds no path, SQL or stack. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly statusCode: number;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, options: ApiErrorOptions = {}) {
    super(options.message ?? catalogue[code].message, { cause: options.cause });
    this.code = code;
    this.statusCode = options.statusCode ?? catalogue[code].status;
    this.details = options.details;
    this.headers = options.headers ?? defaultHeaders(code);
  }

  envelope(requestId: string): ErrorEnvelope {
    const details = this.details === undefined ? {} : { details: this.details };
    return {
      error: { code: this.code, message: this.message, ...details },
      meta: { requestId },
    };
  }
}

function defaultHeaders(code: ErrorCode): Record<string, string> {
  if (catalogue[code].status === 401) return { 'www-authenticate': 'Bearer' };
  if (code === 'UNAVAILABLE') return { 'retry-after': '1' };
  return {};
}

/** A 400 for one field, in the shape that schema validation uses for many. */
export function fieldError(path: string, message: string): ApiError {
  return new ApiError('VALIDATION_ERROR', {
    message: `${path}: ${message}`,
    details: [{ path, message }],
  });
}

/** The code to answer for an HTTP status that a library has chosen. */
export function codeForStatus(status: number): ErrorCode {
  const found = errorCodes.find((code) => catalogue[code].status === status);
  return found ?? (status >= 500 ? 'INTERNAL_ERROR' : 'INVALID_REQUEST');
}
