/**
 * Resumable uploads by tus 1.0 to the `uploadUrl` of an item, in browsers and in Node.
 *
 *   ask for the offset (HEAD) → create if the URL is new (POST) → send parts (PATCH) → complete
 *
 * 1. The service's offset decides where the next part starts: it is requested again after every
 *    failure.
 * 2. Temporary failures are retried with growing pauses, until several in a row have made no
 *    progress. The URL stays valid: a later call with the same file continues.
 * 3. The length of a part adapts to the connection, so that an interruption costs little and a fast
 *    connection is not slowed down.
 */
import { throwIfAborted } from './abort.ts';
import { errorFromResponse, ReelfeedError } from './errors.ts';
import { delay } from './request.ts';

export type UploadProgress = {
  /** Bytes that the service has stored. */
  readonly sentBytes: number;
  readonly totalBytes: number;
};

export type UploadOptions = {
  /** The `uploadUrl` of `POST /v1/content/upload`. It contains its own token: no key is sent. */
  readonly uploadUrl: string | URL;
  /** Called with the offset before the first part and after each one. */
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined;
  /** Ends the call, not the upload: a later call resumes it. */
  readonly signal?: AbortSignal | undefined;
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Consecutive failures without progress before the call gives up. Default: 8. */
  readonly maxRetries?: number | undefined;
  /** First pause after a failure in milliseconds, doubled up to 15 s. Default: 500. */
  readonly retryDelayMs?: number | undefined;
  /** Timeout of one part in milliseconds. Default: 120,000. */
  readonly timeoutMs?: number | undefined;
};

const minPartBytes = 256 * 1024;
const firstPartBytes = 1024 * 1024;
const maxPartBytes = 32 * 1024 * 1024;
/** A part that takes less time than this is followed by one of twice its length. */
const quickPartMs = 2_000;
const maxPauseMs = 15_000;

/**
 * Sends a file and resolves once the service has received all of it. The item is processed
 * afterwards: check its `uploadStatus`. In Node, `await openAsBlob(path)` of `node:fs` gives a file
 * that is streamed.
 *
 * Throws `ReelfeedError` with the service's code, such as `INVALID_MEDIA` or `PAYLOAD_TOO_LARGE`,
 * `NETWORK_ERROR` if it cannot be reached, or the signal's reason once it is aborted.
 */
export async function upload(file: Blob, options: UploadOptions): Promise<void> {
  if (file.size === 0) throw new TypeError('The file is empty.');
  const { maxRetries = 8, onProgress, retryDelayMs = 500, signal } = options;
  let offset: number | null = null;
  let reached = -1;
  let failures = 0;
  let partBytes = firstPartBytes;
  for (;;) {
    throwIfAborted(signal);
    try {
      offset ??= await findOffset(file, options);
      if (offset > reached) failures = 0;
      reached = offset;
      onProgress?.({ sentBytes: offset, totalBytes: file.size });
      if (offset === file.size) return;
      const startedAt = performance.now();
      offset = await sendPart(file.slice(offset, offset + partBytes), offset, options);
      if (performance.now() - startedAt < quickPartMs) {
        partBytes = Math.min(maxPartBytes, partBytes * 2);
      }
    } catch (error) {
      throwIfAborted(signal);
      if (!(error instanceof ReelfeedError)) throw error;
      // A conflict on a part is resolved by requesting the offset; any other conflict is final.
      const isOvertaken = error.status === 409 && offset !== null;
      if (!error.isTransient && !isOvertaken && (error.status ?? 0) < 500) throw error;
      failures += 1;
      if (failures > maxRetries) throw error;
      offset = null;
      partBytes = Math.max(minPartBytes, partBytes / 2);
      const pauseMs = Math.min(maxPauseMs, retryDelayMs * 2 ** (failures - 1));
      await delay(Math.max(pauseMs * (0.5 + Math.random() / 2), error.retryAfterMs ?? 0), signal);
    }
  }
}

/** The current offset of the upload. Creates the upload if nothing has been sent yet. */
async function findOffset(file: Blob, options: UploadOptions): Promise<number> {
  const asked = await send('HEAD', options);
  if (asked.ok) {
    if (Number(asked.headers.get('upload-length')) !== file.size) {
      throw failure('CONFLICT', 'This upload was started with a file of a different length.', 422);
    }
    return offsetOf(asked);
  }
  if (asked.status !== 409) throw errorFromResponse(asked, undefined);
  return offsetOf(await succeed(send('POST', options, { 'upload-length': String(file.size) })));
}

async function sendPart(part: Blob, offset: number, options: UploadOptions): Promise<number> {
  const headers = {
    'content-type': 'application/offset+octet-stream',
    'upload-offset': String(offset),
  };
  return offsetOf(await succeed(send('PATCH', options, headers, part)));
}

async function succeed(sent: Promise<Response>): Promise<Response> {
  const response = await sent;
  if (response.ok) return response;
  throw errorFromResponse(response, await response.json().catch(() => undefined));
}

function offsetOf(response: Response): number {
  const header = response.headers.get('upload-offset');
  if (header !== null && /^\d{1,15}$/.test(header)) return Number(header);
  throw failure('INVALID_RESPONSE', 'The response has no Upload-Offset header.', response.status);
}

async function send(
  method: string,
  { uploadUrl, signal, timeoutMs = 120_000, fetch: given }: UploadOptions,
  headers: Record<string, string> = {},
  body?: Blob,
): Promise<Response> {
  const end = new AbortController();
  const stop = (): void => end.abort();
  const timer = setTimeout(stop, timeoutMs);
  signal?.addEventListener('abort', stop, { once: true });
  const init: RequestInit = {
    method,
    headers: { 'tus-resumable': '1.0.0', ...headers },
    signal: end.signal,
    ...(body !== undefined && { body }),
  };
  try {
    // Browsers reject a fetch that is called as the method of another object.
    return await (given ?? globalThis.fetch)(uploadUrl, init);
  } catch (error) {
    throw end.signal.aborted
      ? failure('TIMEOUT', 'The service did not respond in time.', null, error)
      : failure('NETWORK_ERROR', 'The service cannot be reached.', null, error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

function failure(
  code: string,
  message: string,
  status: number | null,
  cause?: unknown,
): ReelfeedError {
  return new ReelfeedError({
    code,
    message,
    status,
    requestId: null,
    retryAfterMs: null,
    details: [],
    cause,
  });
}
