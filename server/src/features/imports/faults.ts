/** Reasons for failed imports, worded for the item's owner. */
import { ApiError } from '../../platform/http/errors.ts';
import { SourceError } from './source-body.ts';

export type Fault = {
  /** As in `errorReason`. */
  readonly code: string;
  readonly message: string;
  /** Whether a retry would fail the same way. */
  readonly isFinal: boolean;
};

/** The failure of one image among several. */
export class ImageFault extends Error {
  override readonly name = 'ImageFault';
  readonly fault: Fault;

  constructor(index: number, fault: Fault, cause: unknown) {
    super(fault.message, { cause });
    this.fault = { ...fault, message: `Image ${index + 1}: ${fault.message}` };
  }
}

/** Returns null if the source is not at fault, for example if the database is unavailable. */
export function faultOf(error: unknown): Fault | null {
  if (error instanceof ImageFault) return error.fault;
  if (error instanceof SourceError) {
    const { code, message, isFinal } = error;
    return { code, message, isFinal };
  }
  if (!(error instanceof ApiError)) return null;
  const { message } = error;
  if (error.code === 'INVALID_MEDIA') return { code: 'UNSUPPORTED_MEDIA', message, isFinal: true };
  if (error.code === 'PAYLOAD_TOO_LARGE') return { code: 'TOO_LARGE', message, isFinal: true };
  return null;
}

/** A temporary condition: no space for the bytes, or too many images waiting to be decoded. */
export function isShortage(error: unknown): error is ApiError {
  return (
    error instanceof ApiError &&
    (error.code === 'INSUFFICIENT_STORAGE' || error.code === 'UNAVAILABLE')
  );
}
