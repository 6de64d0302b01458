/**
 * Listens for publishers, and keeps unauthenticated connections from shutting them out.
 *
 *   accepted ──▶ waiting ── right key ──▶ publishing ──▶ closed
 *                   ├── wrong key ──▶ refused, answered after a delay ──▶ closed
 *                   └── replaced by a newcomer ──▶ closed
 *
 * 1. Only the number of connections without a valid key, which are cheap, is limited. At the limit,
 *    a new connection replaces one of them: a refused one if there is any, otherwise one of the
 *    address with the most. Of these, the oldest that has not completed the handshake goes first,
 *    then the oldest of all. An encoder completes the handshake at once, and sends its key long
 *    before it is the oldest.
 * 2. A publishing connection is never closed for a new one.
 * 3. No address is blocked, because all publishers behind a proxy share one. Addresses only take
 *    turns at having their keys checked, and wait longer after each rejection.
 */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { addressGroup } from '../../../platform/http/address-group.ts';
import type { KeyJudge } from '../ingest/key-judge.ts';
import { RtmpConnection, type RtmpHandlers, type RtmpLimits } from './rtmp-connection.ts';

export type RtmpServerLimits = RtmpLimits & {
  /** Maximum number of connections that have not sent a valid key. */
  readonly maxWaiting: number;
  readonly maxRefusalMs: number;
};

type Stranger = { readonly address: string; readonly connection: RtmpConnection };

export class RtmpServer implements AsyncDisposable {
  readonly #limits: RtmpServerLimits;
  readonly #open: (address: string) => RtmpHandlers;
  readonly #listening: Server[] = [];
  readonly #sockets = new Set<Socket>();
  /**
   * Connections without a valid key by address, oldest first. Refused ones are also in `#refused`.
   */
  readonly #strangers = new Map<string, Set<Stranger>>();
  readonly #refused = new Set<Stranger>();
  #strangerCount = 0;
  readonly #judge: KeyJudge;

  /** `open` is called for each connection. */
  constructor(limits: RtmpServerLimits, judge: KeyJudge, open: (address: string) => RtmpHandlers) {
    this.#limits = limits;
    this.#judge = judge;
    this.#open = open;
  }

  /**
   * Listens on a port, for RTMP or with `secure` for RTMPS. Connections of all ports share the
   * limits, and count even before their TLS handshake.
   *
   * @throws if the port is unavailable
   */
  async listen(
    { port, host }: { port: number; host: string },
    secure: (socket: Socket) => Socket = (socket) => socket,
  ): Promise<void> {
    const server = createServer((socket) => this.#accept(secure(socket)));
    server.listen(port, host);
    await once(server, 'listening');
    this.#listening.push(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.#listening.map(async (server) => {
      server.close();
      await once(server, 'close');
    });
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
  }

  #accept(socket: Socket): void {
    const address = addressGroup(socket.remoteAddress ?? '');
    const gone = new AbortController();
    const handlers = this.#open(socket.remoteAddress ?? '');
    const publish = async (key: string) => {
      const judge = () => handlers.publish(key, connection);
      const judged = await this.#judge.judge(address, gone.signal, judge);
      if (judged === 'unknown') {
        if (!gone.signal.aborted) this.#refused.add(stranger);
        await this.#judge.refuseLater(address, gone.signal, this.#limits.maxRefusalMs);
      } else if (typeof judged !== 'string') {
        this.#forget(stranger);
      }
      return judged;
    };
    const connection = new RtmpConnection(socket, { ...handlers, publish }, this.#limits);
    const stranger = { address, connection };
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#forget(stranger);
      gone.abort();
    });
    if (this.#strangerCount >= this.#limits.maxWaiting) this.#replaceOne();
    this.#sockets.add(socket);
    const neighbors = this.#strangers.get(address) ?? new Set<Stranger>();
    this.#strangers.set(address, neighbors.add(stranger));
    this.#strangerCount += 1;
    connection.run();
  }

  #replaceOne(): void {
    const [refused] = this.#refused;
    const chosen = refused ?? leastAdvanced(this.#largestGroup());
    if (chosen === null) return;
    // Immediately, because the socket's `close` event comes only after the new connection is
    // admitted.
    this.#forget(chosen);
    chosen.connection.close();
  }

  #largestGroup(): ReadonlySet<Stranger> {
    let largest: ReadonlySet<Stranger> = new Set();
    for (const group of this.#strangers.values()) if (group.size > largest.size) largest = group;
    return largest;
  }

  #forget(stranger: Stranger): void {
    this.#refused.delete(stranger);
    const group = this.#strangers.get(stranger.address);
    if (group?.delete(stranger) !== true) return;
    this.#strangerCount -= 1;
    if (group.size === 0) this.#strangers.delete(stranger.address);
  }
}

function leastAdvanced(group: ReadonlySet<Stranger>): Stranger | null {
  for (const stranger of group) if (!stranger.connection.hasShakenHands) return stranger;
  const [oldest = null] = group;
  return oldest;
}
