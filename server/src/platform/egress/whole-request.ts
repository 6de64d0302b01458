/**
 * One request whose response is read to its end or to a limit, under one deadline. It uses undici's
 * handler interface, because a stream for the response would cost as much as the request.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { awaitedLater } from '../async/awaited-later.ts';
import { offAbort, onAbort, type AbortWatcher } from './abort-watchers.ts';
import { asEgressError, EgressError } from './egress-errors.ts';
import type { EgressRequest, EgressResponse } from './messages.ts';
import type { OriginPools } from './origin-pools.ts';
import { requestTarget } from './target.ts';

const defaultSchemes = ['https:'] as const;

/** See `Egress.request`. */
export async function requestWhole(
  pools: OriginPools,
  request: EgressRequest,
  signal?: AbortSignal,
): Promise<EgressResponse> {
  signal?.throwIfAborted();
  const { origin, host, path } = requestTarget(request.url, request.schemes ?? defaultSchemes);
  const exchange = new Exchange(host, request, signal);
  try {
    pools.of(origin, request).dispatch(
      {
        origin,
        path,
        method: request.method ?? 'GET',
        // Responses are never decompressed, so that a small one cannot expand into a large one.
        headers: { 'accept-encoding': 'identity', ...request.headers },
        body: request.body ?? null,
      },
      exchange,
    );
  } catch (error) {
    exchange.fail(error);
  }
  return exchange.response;
}

class Exchange implements Dispatcher.DispatchHandler, AbortWatcher {
  readonly response: Promise<EgressResponse>;
  /** The index in the bag of watchers of the same signal. */
  place = 0;
  readonly #host: string;
  readonly #signal: AbortSignal | undefined;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  readonly #resolve: (response: EgressResponse) => void;
  readonly #reject: (reason: unknown) => void;
  #controller: Dispatcher.DispatchController | null = null;
  /** Why the request ended early. If it has not begun by then, it must never begin. */
  #endedEarly: Error | null = null;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #parts: Buffer[] = [];
  #leftBytes: number;
  #leftToKeep: number;
  readonly #onBegin: (() => void) | undefined;

  constructor(host: string, request: EgressRequest, signal: AbortSignal | undefined) {
    const { promise, resolve, reject } = Promise.withResolvers<EgressResponse>();
    this.response = awaitedLater(promise);
    this.#resolve = resolve;
    this.#reject = reject;
    this.#host = host;
    this.#signal = signal;
    this.#leftBytes = request.maxBodyBytes;
    this.#leftToKeep = Math.min(request.maxBodyBytes, request.keptBodyBytes ?? Infinity);
    this.#onBegin = request.onBegin;
    const { totalTimeoutMs } = request;
    this.#timer = setTimeout(() => {
      this.fail(new EgressError('timeout', `no response within ${totalTimeoutMs} ms: ${host}`));
    }, totalTimeoutMs);
    if (signal !== undefined) onAbort(signal, this);
  }

  aborted(reason: unknown): void {
    this.#end(new Error('aborted'));
    this.#reject(reason);
  }

  fail(error: unknown): void {
    const failure = asEgressError(error, this.#host);
    if (this.#status !== 0) failure.statusCode = this.#status;
    this.#end(failure);
    this.#reject(failure);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Aborting here would close the connection; throwing leaves it to the next request.
    if (this.#endedEarly !== null) throw this.#endedEarly;
    if (this.#onBegin === undefined) return;
    try {
      this.#onBegin();
    } catch (error) {
      this.#endedEarly = error instanceof Error ? error : new Error(String(error));
      this.#release();
      this.#reject(error);
      throw error;
    }
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    // The final response follows after informational ones.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#leftToKeep > 0) {
      // undici reuses the memory of a chunk.
      const part = Buffer.from(chunk.subarray(0, this.#leftToKeep));
      this.#parts.push(part);
      this.#leftToKeep -= part.length;
    }
    const isTooMuch = chunk.length > this.#leftBytes;
    this.#leftBytes -= Math.min(this.#leftBytes, chunk.length);
    if (isTooMuch) this.#succeed(true);
  }

  onResponseEnd(): void {
    this.#succeed(false);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#endedEarly === null) this.fail(error);
  }

  #succeed(truncated: boolean): void {
    const [first = noBytes, ...more] = this.#parts;
    const body = more.length === 0 ? first : Buffer.concat(this.#parts);
    const elapsedMs = performance.now() - this.#startedAt;
    const answer = { status: this.#status, headers: this.#headers, body, truncated, elapsedMs };
    if (truncated) {
      this.#resolve(answer);
      this.#end(new Error('the rest of the response is not read'));
      return;
    }
    this.#release();
    // undici frees the connection in a `setImmediate` that it schedules right after this call. A
    // caller that sends another request at once should find it free instead of opening a new one.
    queueMicrotask(() => setImmediate(this.#resolve, answer));
  }

  #end(reason: Error): void {
    this.#release();
    if (this.#endedEarly !== null) return;
    this.#endedEarly = reason;
    this.#controller?.abort(reason);
  }

  #release(): void {
    clearTimeout(this.#timer);
    if (this.#signal !== undefined) offAbort(this.#signal, this);
  }
}

const noBytes = Buffer.alloc(0);
