/**
 * Bounds what clients that do not read their answers cost. The operating system takes the first few
 * hundred kilobytes of an answer; the rest waits in memory.
 *
 * 1. A connection on which nothing moves for `stalledMs` while an answer waits is closed. One that
 *    moves slowly is not.
 * 2. When all waiting answers together exceed `maxUnreadBytes`, the connections whose answers have
 *    waited for longest are closed.
 */
import type { Server, ServerResponse } from 'node:http';
import { Bag, type BagMember } from '../bag.ts';
import { requestUnderWay } from './one-at-a-time.ts';

/** Thousands of phones read at once without any of this: their answers fit into the system's buffers. */
const maxUnreadBytes = 64 * 1024 * 1024;

type Unread = BagMember & {
  readonly response: ServerResponse;
  readonly bytes: number;
  readonly since: number;
};

/** Closes connections of the server on which nothing moves. */
export function closeStalled(server: Server, stalledMs: number): void {
  // Node counts written bytes that the client has taken as activity.
  server.setTimeout(stalledMs, (socket) => {
    // Without bytes to send, the client waits for us, or sends a body, which has limits of its own.
    const isOurTurn = requestUnderWay(socket) !== null && socket.writableLength === 0;
    // The rest are stalled answers and idle keep-alive connections.
    if (!isOurTurn) socket.destroy();
  });
}

/** Follows the answers of one server that wait for their clients. */
export class UnreadAnswers {
  readonly #unread = new Bag<Unread>();
  #bytes = 0;

  /** Call it before the answer is begun. */
  follow(response: ServerResponse): void {
    // By then the whole answer has been written; what is left did not fit into the system's buffers.
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
