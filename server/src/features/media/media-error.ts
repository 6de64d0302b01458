/** Reasons for a failed media task; these are the public `errorReason.code` values. */
export type MediaErrorCode =
  | 'UNSUPPORTED_MEDIA'
  | 'CORRUPT_MEDIA'
  | 'TOO_LONG'
  | 'PROCESSING_FAILED';

/**
 * Why a media task ended without a result.
 *
 * `message` may be shown to the item's owner: it contains no paths or internals. `detail` is for
 * the log. `retryable` is true if the same file may succeed next time (a crash, a deadline, a full
 * disk) and false if the file itself is at fault.
 */
export class MediaError extends Error {
  readonly code: MediaErrorCode;
  readonly detail: string;
  readonly retryable: boolean;
  /** Whether the task was killed because it stalled. */
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
