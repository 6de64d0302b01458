/** Why an import fails, in words for the owner of its item. */
import { ApiError } from '../../platform/http/errors.ts';
import { SourceError } from './source-body.ts';

export type Fault = {
  /** As in `errorReason`. */
  readonly code: string;
  readonly message: string;
  /** Whether another attempt would end the same way. */
  readonly isFinal: boolean;
};

/** The fault of one image among several. */
export class ImageFault extends Error {
  override readonly name = 'ImageFault';
  readonly fault: Fault;

  constructor(index: number, fault: Fault, cause: unknown) {
    super(fault.message, { cause });
    this.fault = { ...fault, message: `Image ${index + 1}: ${fault.message}` };
  }
}

/** Null for what is no fault of the source, such as a database that is away. */
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

/** What passes by itself: no room for the bytes, or too many images that wait to be decoded. */
export function isShortage(error: unknown): error is ApiError {
  return (
    error instanceof ApiError &&
    (error.code === 'INSUFFICIENT_STORAGE' || error.code === 'UNAVAILABLE')
  );
}
