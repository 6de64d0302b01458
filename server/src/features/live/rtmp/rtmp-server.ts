/**
 * Listens for publishers, and keeps strangers from shutting them out.
 *
 *   accepted ──▶ waiting ── right key ──▶ publishing ──▶ closed
 *                   ├── wrong key ──▶ refused, told after a while ──▶ closed
 *                   └── replaced by a newcomer ──▶ closed
 *
 * 1. Only connections without a right key, which are cheap, are bounded in number. At the bound a
 *    newcomer replaces one of them: one that was refused, or else one of the address with the most, the
 *    oldest that has not shaken hands before the oldest of all. An encoder shakes hands at once, and has
 *    sent its key long before it is the oldest.
 * 2. Nobody who publishes is closed for a newcomer.
 * 3. No address is shut out, because behind a proxy all publishers have the same one. Addresses only
 *    take turns at having their keys judged, and wait longer for each refusal.
 */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { addressGroup } from '../../../platform/http/address-group.ts';
import type { KeyJudge } from '../ingest/key-judge.ts';
import { RtmpConnection, type RtmpHandlers, type RtmpLimits } from './rtmp-connection.ts';

export type RtmpServerLimits = RtmpLimits & {
  /** Connections that have not sent a right key. */
  readonly maxWaiting: number;
  readonly maxRefusalMs: number;
};

type Stranger = { readonly address: string; readonly connection: RtmpConnection };

export class RtmpServer implements AsyncDisposable {
  readonly #limits: RtmpServerLimits;
  readonly #open: (address: string) => RtmpHandlers;
  readonly #listening: Server[] = [];
  readonly #sockets = new Set<Socket>();
  /** Connections without a right key by their address, and the refused ones again; oldest first. */
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
   * Listens on a port, for RTMP or with `secure` for RTMPS. Connections of all ports share the bounds,
   * and count from before the handshake of TLS.
   *
   * @throws when the port cannot be had
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
    // At once, because the socket's `close` comes only after the newcomer was let in.
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
