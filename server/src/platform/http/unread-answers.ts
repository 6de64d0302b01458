/**
 * Limits the cost of clients that do not read their responses. The operating system buffers the
 * first few hundred kilobytes of a response; the rest waits in memory.
 *
 * 1. A connection that makes no progress for `stalledMs` while a response is waiting is closed. A
 *    slow connection is not.
 * 2. When all waiting responses together exceed `maxUnreadBytes`, the connections whose responses
 *    have waited longest are closed.
 */
import type { Server, ServerResponse } from 'node:http';
import { Bag, type BagMember } from '../memory/bag.ts';
import { requestUnderWay } from './one-at-a-time.ts';

/**
 * Thousands of phones that read at the same time do not reach it, because their responses fit into
 * the system's buffers.
 */
const maxUnreadBytes = 64 * 1024 * 1024;

type Unread = BagMember & {
  readonly response: ServerResponse;
  readonly bytes: number;
  readonly since: number;
};

/** Closes stalled connections of the server. */
export function closeStalled(server: Server, stalledMs: number): void {
  // Node counts it as activity when the client accepts written bytes.
  server.setTimeout(stalledMs, (socket) => {
    // Without bytes to send, the client is either waiting for us or sending a body, which has
    // separate limits.
    const isOurTurn = requestUnderWay(socket) !== null && socket.writableLength === 0;
    // The rest are stalled responses and idle keep-alive connections.
    if (!isOurTurn) socket.destroy();
  });
}

/** Tracks the responses of a server that are waiting for their clients. */
export class UnreadAnswers {
  readonly #unread = new Bag<Unread>();
  #bytes = 0;

  /** Must be called before the response begins. */
  follow(response: ServerResponse): void {
    // By then, the whole response has been written. The remainder did not fit into the system's
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
