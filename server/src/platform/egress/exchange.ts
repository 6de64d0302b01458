/** One HTTP exchange under one deadline, with its response as a stream. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { asEgressError, EgressError } from './egress-errors.ts';
import type { EgressRequest } from './messages.ts';
import type { OriginPools } from './origin-pools.ts';
import { parseTarget } from './target.ts';

/**
 * A response being read. Disposing of it ends it; a body read to its end needs no further cleanup.
 */
export type Download = AsyncDisposable & {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The final URL after redirects. */
  readonly url: URL;
  /** Throws an `EgressError` at the size limit and at the deadline. */
  readonly body: AsyncIterable<Buffer>;
};

type Exchange = {
  readonly url: URL;
  readonly response: Dispatcher.ResponseData;
  /** Converts a failure while reading, including that of the deadline, into the error to throw. */
  readonly failure: (error: unknown) => unknown;
  /** Cancels the deadline; a body that is still open is closed with its connection. */
  readonly end: () => void;
};

const defaultSchemes = ['https:'] as const;

export async function openResponse(
  pools: OriginPools,
  request: EgressRequest & { readonly maxRedirects: number },
  signal?: AbortSignal,
): Promise<Download> {
  const endsAt = performance.now() + request.totalTimeoutMs;
  let url = request.url;
  let headers = request.headers ?? {};
  for (let redirects = 0; redirects <= request.maxRedirects; redirects += 1) {
    const totalTimeoutMs = Math.max(1, endsAt - performance.now());
    const exchange = await begin(pools, { ...request, url, headers, totalTimeoutMs }, signal);
    const location = redirectOf(exchange);
    if (location === null) return toDownload(exchange, request.maxBodyBytes);
    exchange.end();
    // Headers meant for one host must not reach the next one.
    if (new URL(location).origin !== exchange.url.origin) headers = {};
    url = location;
  }
  throw new EgressError('too_many_redirects', `more than ${request.maxRedirects} redirects`);
}

/** Sends the request and waits for the headers. */
async function begin(
  pools: OriginPools,
  request: EgressRequest,
  signal?: AbortSignal,
): Promise<Exchange> {
  signal?.throwIfAborted();
  const { url, host } = parseTarget(request.url, request.schemes ?? defaultSchemes);
  const controller = new AbortController();
  const { totalTimeoutMs } = request;
  // The error is created on demand: its stack would cost more than the rest of this function.
  const onDeadline = (): void =>
    controller.abort(
      new EgressError('timeout', `no response within ${totalTimeoutMs} ms: ${host}`),
    );
  const timer = setTimeout(onDeadline, totalTimeoutMs);
  const onAbort = (): void => controller.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const release = (): void => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  };
  const failure = (error: unknown): unknown =>
    controller.signal.aborted ? controller.signal.reason : asEgressError(error, host);

  try {
    const response = await pools.of(url.origin).request({
      path: url.pathname + url.search,
      method: request.method ?? 'GET',
      // Responses are never decompressed, so that a small one cannot expand into a large one.
      headers: { 'accept-encoding': 'identity', ...request.headers },
      body: request.body ?? null,
      signal: controller.signal,
    });
    const end = (): void => {
      release();
      // Without a listener, closing early would be an uncaught error of the stream.
      response.body.on('error', () => undefined).destroy();
    };
    return { url, response, failure, end };
  } catch (error) {
    release();
    throw failure(error);
  }
}

function redirectOf({ url, response }: Exchange): string | null {
  const { location } = response.headers;
  const isRedirect = [301, 302, 303, 307, 308].includes(response.statusCode);
  if (!isRedirect || typeof location !== 'string') return null;
  if (!URL.canParse(location, url)) return null;
  const next = new URL(location, url);
  next.hash = '';
  return next.href;
}

function toDownload(exchange: Exchange, maxBodyBytes: number): Download {
  const { statusCode: status, headers } = exchange.response;
  return {
    status,
    headers,
    url: exchange.url,
    body: limited(exchange, maxBodyBytes),
    async [Symbol.asyncDispose]() {
      exchange.end();
    },
  };
}

async function* limited(exchange: Exchange, maxBodyBytes: number): AsyncGenerator<Buffer> {
  let sizeBytes = 0;
  try {
    for await (const chunk of bytesOf(exchange.response.body)) {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBodyBytes) {
        throw new EgressError(
          'too_large',
          `more than ${maxBodyBytes} bytes: ${exchange.url.hostname}`,
        );
      }
      yield chunk;
    }
  } catch (error) {
    throw exchange.failure(error);
  } finally {
    exchange.end();
  }
}

/** undici's body has no element type; its chunks are buffers. */
function bytesOf(body: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  return body;
}
