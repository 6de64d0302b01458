/** Reads the headers of tus 1.0 requests. */
import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../../platform/http/errors.ts';
import { uploadErrors } from './errors.ts';
import type { Checksum } from './receive-part.ts';

export const tusVersion = '1.0.0';

/** @throws {ApiError} PRECONDITION_FAILED */
export function requireVersion(headers: IncomingHttpHeaders): void {
  if (headers['tus-resumable'] === tusVersion) return;
  throw new ApiError('PRECONDITION_FAILED', {
    message: `Send Tus-Resumable: ${tusVersion}.`,
    headers: { 'tus-version': tusVersion },
  });
}

/** @throws {ApiError} INVALID_REQUEST */
export function readInteger(headers: IncomingHttpHeaders, name: string): number {
  const value = headers[name];
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  throw new ApiError('INVALID_REQUEST', { message: `${name} must be a number of bytes.` });
}

/** The `Content-Length`, or null if there is none. */
export function declaredLength(headers: IncomingHttpHeaders): number | null {
  const declared = Number(headers['content-length'] ?? Number.NaN);
  return Number.isSafeInteger(declared) ? declared : null;
}

/**
 * The `Upload-Checksum`, or null if there is none.
 * @throws {ApiError} CHECKSUM_UNSUPPORTED
 */
export function readChecksum(headers: IncomingHttpHeaders): Checksum | null {
  const header = headers['upload-checksum'];
  if (header === undefined) return null;
  const [, algorithm, digest = ''] = /^(sha1|sha256|md5) ([\w+/=]+)$/.exec(String(header)) ?? [];
  if (algorithm === undefined) throw new ApiError(uploadErrors.CHECKSUM_UNSUPPORTED);
  return {
    algorithm: algorithm as Checksum['algorithm'],
    digest: Buffer.from(digest, 'base64'),
  };
}
