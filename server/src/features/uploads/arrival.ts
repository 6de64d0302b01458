import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../platform/http/errors.ts';

/** Minimum progress of an upload per time window, so that none occupies its slot forever. */
export type ArrivalRule = { windowMs: number; leastBytes: number };

export type Arrival = Disposable & {
  /** Aborts with the REQUEST_TIMEOUT error to return. */
  signal: AbortSignal;
};

/**
 * Watches the bytes of a request arrive and gives up on a client that stalls or is too slow. It
 * counts what the connection has read, so it does not slow down the stream; a disk that accepts
 * nothing for that long ends the upload too.
 */
export function watchArrival(raw: IncomingMessage, rule: ArrivalRule): Arrival {
  const controller = new AbortController();
  const { socket } = raw;
  let seenBytes = socket.bytesRead;
  const timer = setInterval(() => {
    const arrivedBytes = socket.bytesRead - seenBytes;
    seenBytes = socket.bytesRead;
    if (!raw.complete && arrivedBytes < rule.leastBytes) {
      controller.abort(new ApiError('REQUEST_TIMEOUT'));
    }
  }, rule.windowMs);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
