import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../platform/http/errors.ts';

/** What an upload has to bring in each stretch of time, so that none holds its place for ever. */
export type ArrivalRule = { windowMs: number; leastBytes: number };

export type Arrival = Disposable & {
  /** Aborts with the REQUEST_TIMEOUT to answer. */
  signal: AbortSignal;
};

/**
 * Watches the bytes of a request arrive, from its first part to its last, and gives up on a sender
 * that falls silent or drips. It counts what the connection has read, so nothing is in the way of
 * the stream; a disk that takes nothing for that long ends the upload as well.
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
