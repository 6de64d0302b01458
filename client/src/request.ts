import { errorFromResponse, ReelfeedError } from './errors.ts';

/** Everything a call needs to reach the service; made once by `createReelfeed`. */
export interface Transport {
  readonly baseUrl: URL;
  readonly publishableKey: string;
  readonly fetch: typeof fetch;
  /** Tries after the first one, for network errors, 429 and 503 only. */
  readonly maxRetries: number;
  /** Longest wait for one attempt, its body included. */
  readonly timeoutMs: number;
  /** First pause between tries; it doubles and is spread at random. */
  readonly retryDelayMs: number;
}

/** A service that asks for a longer pause than this gets it from the caller, not from a hidden wait. */
const maxWaitMs = 30_000;
const maxBackoffMs = 8_000;

/**
 * Reads one JSON resource. Network errors, 429 and 503 are tried again with back-off, never sooner
 * than `Retry-After`; every other refusal is final.
 * Throws `ReelfeedError`, or the signal's reason once it is aborted.
 */
export async function getJson(
  transport: Transport,
  path: string,
  parameters: URLSearchParams,
  signal?: AbortSignal,
): Promise<unknown> {
  const url = new URL(path, transport.baseUrl);
  url.search = parameters.toString();
  for (let retries = 0; ; retries += 1) {
    signal?.throwIfAborted();
    try {
      return await attempt(transport, url, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ReelfeedError) || !error.isTransient) throw error;
      const waitMs = pauseBeforeRetry(transport, retries, error.retryAfterMs);
      if (retries >= transport.maxRetries || waitMs > maxWaitMs) throw error;
      await delay(waitMs, signal);
    }
  }
}

/** Full jitter keeps clients that failed together from coming back together. */
function pauseBeforeRetry(
  transport: Transport,
  retries: number,
  retryAfterMs: number | null,
): number {
  const ceilingMs = Math.min(maxBackoffMs, transport.retryDelayMs * 2 ** retries);
  const backoffMs = ceilingMs * (0.5 + Math.random() / 2);
  return Math.max(backoffMs, retryAfterMs ?? 0);
}

async function attempt(transport: Transport, url: URL, signal?: AbortSignal): Promise<unknown> {
  const controller = new AbortController();
  const stop = (): void => controller.abort(signal?.reason);
  const timer = setTimeout(stop, transport.timeoutMs);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const response = await transport.fetch(url, {
      headers: { accept: 'application/json', authorization: `Bearer ${transport.publishableKey}` },
      signal: controller.signal,
    });
    const text = await response.text();
    return readBody(response, text);
  } catch (error) {
    if (error instanceof ReelfeedError) throw error;
    throw noAnswer(controller.signal.aborted, error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

function readBody(response: Response, text: string): unknown {
  const body = parseJson(text);
  if (!response.ok) throw errorFromResponse(response, body);
  if (body !== undefined) return body;
  throw new ReelfeedError({
    code: 'INVALID_RESPONSE',
    message: 'The answer is not JSON. Is the base URL that of a Reelfeed service?',
    status: response.status,
    requestId: response.headers.get('x-request-id'),
    retryAfterMs: null,
    details: [],
  });
}

function noAnswer(timedOut: boolean, cause: unknown): ReelfeedError {
  return new ReelfeedError({
    code: timedOut ? 'TIMEOUT' : 'NETWORK_ERROR',
    message: timedOut ? 'The service did not answer in time.' : 'The service cannot be reached.',
    status: null,
    requestId: null,
    retryAfterMs: null,
    details: [],
    cause,
  });
}

/** Undefined for text that is no JSON, which no JSON text can mean. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function delay(waitMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, waitMs);
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
  });
}
