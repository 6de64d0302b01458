import { ApiError } from '../../platform/http/errors.ts';
import type { ReceivedFile } from '../../platform/storage/receive.ts';
import { FileTooLargeError, StorageFullError } from '../../platform/storage/storage-errors.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { SNIFF_BYTES, sniffMedia } from '../media/media.ts';
import type { ArrivalRule } from './arrival.ts';
import { uploadErrors } from './errors.ts';

export type UploadLimits = {
  maxUploadBytes: number;
  /** Free disk space that uploads leave for the database. */
  minFreeBytes: number;
  arrival: ArrivalRule;
};

export type ReceivedMedia = { file: ReceivedFile; mediaType: string };

/** Received media that can be stored under a key once. */
export type ArrivedMedia = {
  mediaType: string;
  sizeBytes: number;
  store: (key: string) => Promise<void>;
};

/** Received media for storage to take over. */
export function arrivedMedia(storage: Storage, { file, mediaType }: ReceivedMedia): ArrivedMedia {
  return { mediaType, sizeBytes: file.sizeBytes, store: (key) => storage.put(key, file) };
}

/**
 * Writes incoming media to a scratch file in constant memory. The first bytes must be those of a
 * supported container: nothing else is parsed.
 * @throws {ApiError} INVALID_MEDIA, PAYLOAD_TOO_LARGE, INSUFFICIENT_STORAGE, REQUEST_TIMEOUT
 */
export async function receiveMedia(
  storage: Storage,
  source: AsyncIterable<Uint8Array>,
  limits: UploadLimits,
  declaredBytes: number | null,
  signal: AbortSignal,
): Promise<ReceivedMedia> {
  let mediaType = '';
  const check = (head: Buffer) => {
    mediaType = requireMedia(head);
  };
  const declared = declaredBytes === null ? {} : { declaredBytes };
  const file = await receiveBytes(storage, source, { ...limits, ...declared }, check, signal);
  return { file, mediaType };
}

/**
 * Writes incoming bytes to a scratch file in constant memory, once `checkHead` has accepted the
 * first ones. Frees the memory of the chunks, so nothing else may hold on to them.
 * @throws {ApiError} PAYLOAD_TOO_LARGE, INSUFFICIENT_STORAGE, REQUEST_TIMEOUT
 */
export async function receiveBytes(
  storage: Storage,
  source: AsyncIterable<Uint8Array>,
  limits: UploadLimits & { declaredBytes?: number },
  checkHead: (head: Buffer) => void,
  signal: AbortSignal,
): Promise<ReceivedFile> {
  const { maxUploadBytes: maxBytes, minFreeBytes, declaredBytes } = limits;
  try {
    return await storage.scratch.receive(
      source,
      {
        maxBytes,
        minFreeBytes,
        headBytes: SNIFF_BYTES,
        ownsChunks: true,
        ...(declaredBytes !== undefined && { declaredBytes }),
        onFirstBytes: checkHead,
      },
      signal,
    );
  } catch (error) {
    throw translateReceiving(error, limits);
  }
}

export function requireMedia(head: Buffer): string {
  if (head.length === 0) {
    throw new ApiError(uploadErrors.INVALID_MEDIA, { message: 'The upload is empty.' });
  }
  const format = sniffMedia(head);
  if (format === null) {
    throw new ApiError(uploadErrors.INVALID_MEDIA, {
      message:
        'The file is not a supported video or audio file. Supported formats include MP4, MOV and WebM.',
    });
  }
  return format.mediaType;
}

/** The error to report to the client for a failed transfer. */
export function translateReceiving(
  error: unknown,
  limits: Pick<UploadLimits, 'maxUploadBytes'>,
): unknown {
  if (error instanceof FileTooLargeError) {
    return new ApiError('PAYLOAD_TOO_LARGE', {
      message: `The file is larger than the maximum of ${limits.maxUploadBytes} bytes.`,
      cause: error,
    });
  }
  if (error instanceof StorageFullError) {
    return new ApiError('INSUFFICIENT_STORAGE', { cause: error });
  }
  if (isCutOff(error)) {
    return new ApiError('INVALID_REQUEST', {
      message: 'The upload was interrupted.',
      cause: error,
    });
  }
  return error;
}

/**
 * The client has disconnected, so nobody receives the response; it must not look like a server
 * error.
 */
function isCutOff(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  return code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE';
}
