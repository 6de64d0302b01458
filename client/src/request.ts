import { reasonOf, throwIfAborted } from './abort.ts';
import { errorFromResponse, ReelfeedError } from './errors.ts';
import { backoffMs, type Transport } from './transport.ts';

/** If the service asks for a longer pause, the caller gets the error instead of a hidden wait. */
const maxWaitMs = 30_000;
const maxBackoffMs = 8_000;

/** A transport for calls with a waiting caller, which eventually fail. */
export type RetryingTransport = Transport & {
  /** Retries, only for network errors, 408, 425, 429 and 503. */
  readonly maxRetries: number;
  /** Authenticates the caller instead of the key. */
  readonly signature?: Readonly<Record<string, string>> | undefined;
};

/** One request; its body is JSON text. */
export type JsonRequest = {
  readonly method: string;
  /** Relative to the transport's base URL, without a leading slash. */
  readonly path: string;
  readonly parameters?: URLSearchParams | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** Reads one JSON resource. See {@link sendJson}. */
export function getJson(
  transport: RetryingTransport,
  path: string,
  parameters: URLSearchParams,
  signal?: AbortSignal,
  headers?: Readonly<Record<string, string>>,
): Promise<unknown> {
  return sendJson(transport, { method: 'GET', path, parameters, signal, headers });
}

/**
 * Sends a request that may safely be repeated. Network errors, 408, 425, 429 and 503 are retried
 * with back-off, never sooner than `Retry-After`, as is the 409 that means that the first attempt
 * is still in progress. Every other rejection is final. Throws `ReelfeedError`, or the signal's
 * reason once it is aborted.
 */
export async function sendJson(
  transport: RetryingTransport,
  { method, path, parameters, headers, body, signal }: JsonRequest,
): Promise<unknown> {
  const url = new URL(path, transport.baseUrl);
  url.search = parameters?.toString() ?? '';
  const init: RequestInit = {
    method,
    headers: {
      ...(transport.signature ?? bearer(transport)),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  };
  for (let retries = 0; ; retries += 1) {
    throwIfAborted(signal);
    try {
      return await attempt(transport, url, init, signal);
    } catch (error) {
      throwIfAborted(signal);
      if (!(error instanceof ReelfeedError) || !mayBeTriedAgain(error)) throw error;
      const pauseMs = backoffMs(transport, retries, maxBackoffMs);
      const waitMs = Math.max(pauseMs, error.retryAfterMs ?? 0);
      if (retries >= transport.maxRetries || waitMs > maxWaitMs) throw error;
      await delay(waitMs, signal);
    }
  }
}

function mayBeTriedAgain(error: ReelfeedError): boolean {
  return error.isTransient || error.code === 'IDEMPOTENCY_IN_FLIGHT';
}

/** Sends one JSON text without retries. Throws `ReelfeedError`. */
export function postJson(transport: Transport, path: string, json: string): Promise<unknown> {
  const headers = { ...bearer(transport), 'content-type': 'application/json' };
  const url = new URL(path, transport.baseUrl);
  return attempt(transport, url, { method: 'POST', headers, body: json });
}

/**
 * Like `postJson`, for a page that may close at any time: the browser continues sending. The body
 * is sent as text with the key in the URL, because a request that needs a preflight would be lost.
 */
export function postBeforeEnd(transport: Transport, path: string, json: string): Promise<unknown> {
  const url = addressWithKey(transport, path);
  return attempt(transport, url, { method: 'POST', body: json, keepalive: true });
}

export function addressWithKey(transport: Transport, path: string): URL {
  const url = new URL(path, transport.baseUrl);
  url.searchParams.set('key', transport.key);
  return url;
}

function bearer(transport: Transport): Record<string, string> {
  return { accept: 'application/json', authorization: `Bearer ${transport.key}` };
}

async function attempt(
  transport: Transport,
  url: URL,
  init: RequestInit,
  signal?: AbortSignal,
): Promise<unknown> {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  const timer = setTimeout(stop, transport.timeoutMs);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const response = await transport.fetch(url, { ...init, signal: controller.signal });
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
    message: 'The response is not JSON. Does baseUrl point to a Reelfeed service?',
    status: response.status,
    requestId: response.headers.get('x-request-id'),
    retryAfterMs: null,
    details: [],
  });
}

function noAnswer(timedOut: boolean, cause: unknown): ReelfeedError {
  return new ReelfeedError({
    code: timedOut ? 'TIMEOUT' : 'NETWORK_ERROR',
    message: timedOut ? 'The service did not respond in time.' : 'The service cannot be reached.',
    status: null,
    requestId: null,
    retryAfterMs: null,
    details: [],
    cause,
  });
}

/** Undefined for text that is not JSON; no JSON text parses to undefined. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Waits; rejects with the signal's reason once it is aborted. */
export function delay(waitMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, waitMs);
    const abort = (): void => {
      clearTimeout(timer);
      reject(reasonOf(signal));
    };
    signal?.addEventListener('abort', abort, { once: true });
  });
}
