/**
 * Reads a source across connection failures: if it supports ranges and identifies its version, a
 * broken transfer continues where it stopped.
 */
import { EgressError, type EgressFailure } from '../../platform/egress/egress-errors.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { sleep } from '../../platform/async/lifecycle.ts';

export const schemes = ['https:', 'http:'] as const;

/** Prefix of error messages for failed imports, which identify the source only as it was given. */
export const sourcePrefix = 'The source';

const maxResumes = 5;
const maxRedirects = 3;

/** Why a source yields no usable bytes; `message` is for the item's owner. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  readonly code: 'SOURCE_UNREACHABLE' | 'TOO_LARGE';
  readonly isFinal: boolean;

  constructor(
    message: string,
    options: { code?: 'SOURCE_UNREACHABLE' | 'TOO_LARGE'; isFinal: boolean; cause?: unknown },
  ) {
    super(`${sourcePrefix} ${message}`, { cause: options.cause });
    this.code = options.code ?? 'SOURCE_UNREACHABLE';
    this.isFinal = options.isFinal;
  }
}

export type SourceLimits = {
  maxBytes: number;
  deadlineMs: number;
  /** Minimum average rate after the first minute; a slower source is given up. */
  minBytesPerSecond: number;
};

export type SourceParts = {
  egress: Egress;
  limits: SourceLimits;
  /** Called with the bytes so far, and the total if the source declares it. */
  onProgress: (bytes: number, total: number | null) => void;
  signal: AbortSignal;
};

/** Failures that are often temporary. */
const mendable: ReadonlySet<EgressFailure> = new Set([
  'connection_refused',
  'connection_error',
  'dns_error',
  'protocol_error',
  'timeout',
]);

type Transfer = { bytes: number; total: number | null; version: string | null; endsAt: number };

/**
 * Reads a source completely.
 * @throws {SourceError}
 */
export async function* readSource(url: string, parts: SourceParts): AsyncGenerator<Buffer> {
  const { limits, signal } = parts;
  const startedAt = performance.now();
  const transfer: Transfer = {
    bytes: 0,
    total: null,
    version: null,
    endsAt: startedAt + limits.deadlineMs,
  };
  for (let resumes = 0; ; resumes += 1) {
    const before = transfer.bytes;
    try {
      for await (const chunk of readOnce(url, transfer, parts)) {
        transfer.bytes += chunk.length;
        checkPace(transfer.bytes, startedAt, limits);
        parts.onProgress(transfer.bytes, transfer.total);
        yield chunk;
      }
      return;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const failure = translate(error);
      if (performance.now() >= transfer.endsAt) throw tooLate(failure);
      // A source that sent nothing since the last break is left to the next attempt.
      const canResume = transfer.version !== null && transfer.bytes > before;
      if (failure.isFinal || !canResume || resumes >= maxResumes) throw failure;
      await sleep(250 * 2 ** resumes, signal);
    }
  }
}

/** One request, for everything or for the missing rest. */
async function* readOnce(
  url: string,
  transfer: Transfer,
  { egress, limits, signal }: SourceParts,
): AsyncGenerator<Buffer> {
  const { bytes, version } = transfer;
  await using download = await egress.download(
    {
      url,
      schemes,
      maxRedirects,
      totalTimeoutMs: Math.max(1, transfer.endsAt - performance.now()),
      maxBodyBytes: limits.maxBytes - bytes,
      headers:
        bytes === 0 || version === null
          ? { accept: 'video/*, audio/*, */*;q=0.5' }
          : { range: `bytes=${bytes}-`, 'if-range': version },
    },
    signal,
  );
  const { status, headers } = download;
  requireUsable(status, headers['content-range'], bytes);
  if (bytes === 0) {
    const length = Number(headers['content-length'] ?? Number.NaN);
    transfer.total = Number.isSafeInteger(length) ? length : null;
    if (transfer.total !== null && transfer.total > limits.maxBytes) throw tooLarge(limits);
    transfer.version = versionOf(headers);
  }
  yield* download.body;
}

/** A strong validator; without one, a second response might be of another file. */
function versionOf(headers: Record<string, string | string[] | undefined>): string | null {
  const { etag } = headers;
  if (headers['accept-ranges'] !== 'bytes' || typeof etag !== 'string') return null;
  return etag.startsWith('W/') ? null : etag;
}

function requireUsable(status: number, range: string | undefined, bytes: number): void {
  if (bytes === 0 && status === 200) return;
  if (bytes > 0 && status === 206 && range?.startsWith(`bytes ${bytes}-`) === true) return;
  if (bytes > 0 && status < 400) {
    throw new SourceError('changed while it was being read.', { isFinal: false });
  }
  const isFinal = status < 500 && status !== 408 && status !== 425 && status !== 429;
  throw new SourceError(`responded with status ${status}.`, { isFinal });
}

function checkPace(bytes: number, startedAt: number, limits: SourceLimits): void {
  const seconds = (performance.now() - startedAt) / 1_000;
  if (seconds > 60 && bytes / seconds < limits.minBytesPerSecond) {
    throw new SourceError('is too slow.', { isFinal: true });
  }
}

/** Not retried: the next attempt would start over and take as long. */
function tooLate(cause: SourceError): SourceError {
  return new SourceError('did not send all of its bytes in time.', { isFinal: true, cause });
}

export function tooLarge({ maxBytes }: SourceLimits): SourceError {
  return new SourceError(`has more than the maximum of ${maxBytes} bytes.`, {
    code: 'TOO_LARGE',
    isFinal: true,
  });
}

const sentences: Partial<Record<EgressFailure, string>> = {
  blocked_address: 'does not resolve to a public address.',
  invalid_url: 'redirects to something that is not a usable URL.',
  dns_error: 'has a host name that cannot be resolved.',
  connection_refused: 'refused the connection.',
  connection_error: 'closed the connection unexpectedly.',
  tls_error: 'has a certificate that cannot be verified.',
  timeout: 'did not respond in time.',
  protocol_error: 'sent an incomplete or invalid HTTP response.',
  too_large: 'has more bytes than are accepted.',
  too_many_redirects: `redirects more than ${maxRedirects} times.`,
};

/** The service's own description of a failure, without anything sent by the source. */
function translate(error: unknown): SourceError {
  if (error instanceof SourceError) return error;
  if (!(error instanceof EgressError)) throw error;
  return new SourceError(sentences[error.failure] ?? 'could not be read.', {
    code: error.failure === 'too_large' ? 'TOO_LARGE' : 'SOURCE_UNREACHABLE',
    isFinal: !mendable.has(error.failure),
    cause: error,
  });
}
