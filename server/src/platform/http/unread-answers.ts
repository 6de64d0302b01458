/**
 * Limits the cost of clients that do not read their responses. The operating system takes the first
 * few hundred kilobytes of a response; the rest waits in memory.
 *
 * 1. A connection on which nothing moves for `stalledMs` while a response waits is closed. A slow
 *    one is not.
 * 2. When all waiting responses together exceed `maxUnreadBytes`, the connections whose responses
 *    have waited longest are closed.
 */
import type { Server, ServerResponse } from 'node:http';
import { Bag, type BagMember } from '../memory/bag.ts';
import { requestUnderWay } from './one-at-a-time.ts';

/**
 * Thousands of phones read at once without reaching it: their responses fit into the system's
 * buffers.
 */
const maxUnreadBytes = 64 * 1024 * 1024;

type Unread = BagMember & {
  readonly response: ServerResponse;
  readonly bytes: number;
  readonly since: number;
};

/** Closes connections of the server on which nothing moves. */
export function closeStalled(server: Server, stalledMs: number): void {
  // Node counts it as activity when the client accepts written bytes.
  server.setTimeout(stalledMs, (socket) => {
    // Without bytes to send, the client waits for us, or sends a body, which has limits of its own.
    const isOurTurn = requestUnderWay(socket) !== null && socket.writableLength === 0;
    // The rest are stalled responses and idle keep-alive connections.
    if (!isOurTurn) socket.destroy();
  });
}

/** Tracks the responses of one server that wait for their clients. */
export class UnreadAnswers {
  readonly #unread = new Bag<Unread>();
  #bytes = 0;

  /** Call it before the response begins. */
  follow(response: ServerResponse): void {
    // By then the whole response has been written; the remainder did not fit into the system's
    // buffers.
    response.on('prefinish', () => {
      const bytes = response.socket?.writableLength ?? 0;
      if (bytes > 0) this.#add({ response, bytes, since: performance.now(), place: 0 });
    });
  }

  #add(unread: Unread): void {
    this.#unread.add(unread);
    this.#bytes += unread.bytes;
    unread.response.on('close', () => this.#remove(unread));
    while (this.#bytes > maxUnreadBytes) this.#closeOldest();
  }

  #remove(unread: Unread): void {
    if (this.#unread.delete(unread)) this.#bytes -= unread.bytes;
  }

  #closeOldest(): void {
    let oldest: Unread | null = null;
    for (const unread of this.#unread) {
      if (oldest === null || unread.since < oldest.since) oldest = unread;
    }
    if (oldest === null) return;
    this.#remove(oldest);
    oldest.response.destroy();
  }
}
