/** The reasons a media task can give; they are the public `errorReason.code` values. */
export type MediaErrorCode =
  | 'UNSUPPORTED_MEDIA'
  | 'CORRUPT_MEDIA'
  | 'TOO_LONG'
  | 'PROCESSING_FAILED';

/**
 * Why a media task ended without a result.
 *
 * `message` may be shown to the owner of the item: it names no path and no internals. `detail` is
 * for the log. `retryable` is true where the same bytes may well pass the next time (a crash, a
 * deadline, a full disk) and false where the bytes themselves are the reason.
 */
export class MediaError extends Error {
  readonly code: MediaErrorCode;
  readonly detail: string;
  readonly retryable: boolean;
  /** Nothing came forward for too long. */
  readonly isStandstill: boolean;

  constructor(
    code: MediaErrorCode,
    message: string,
    options: {
      detail?: string;
      retryable?: boolean;
      isStandstill?: boolean;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'MediaError';
    this.code = code;
    this.detail = options.detail ?? message;
    this.retryable = options.retryable ?? code === 'PROCESSING_FAILED';
    this.isStandstill = options.isStandstill ?? false;
  }
}
