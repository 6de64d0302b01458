/** Listens for publishers, so many at once and from one address as the limits say. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { RtmpConnection, type RtmpHandlers, type RtmpLimits } from './rtmp-connection.ts';

export type RtmpServerLimits = RtmpLimits & {
  readonly maxConnections: number;
  readonly maxConnectionsOfAddress: number;
  /** So many unknown keys of one address within `failureWindowMs` shut it out. */
  readonly maxFailures: number;
  readonly failureWindowMs: number;
};

/** Addresses that are remembered because of their failures. */
const maxAddresses = 10_000;

export class RtmpServer implements AsyncDisposable {
  readonly #limits: RtmpServerLimits;
  readonly #open: (address: string) => RtmpHandlers;
  readonly #server: Server;
  readonly #sockets = new Map<Socket, string>();
  readonly #failures: LRUCache<string, number>;

  /** `open` is called for each connection that is let in. */
  constructor(limits: RtmpServerLimits, open: (address: string) => RtmpHandlers) {
    this.#limits = limits;
    this.#open = open;
    this.#failures = new LRUCache({ max: maxAddresses, ttl: limits.failureWindowMs });
    this.#server = createServer((socket) => this.#accept(socket));
    this.#server.maxConnections = limits.maxConnections;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** @throws when the port cannot be had */
  async listen(port: number, host: string): Promise<void> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.#server.listening ? once(this.#server, 'close') : null;
    this.#server.close();
    for (const socket of this.#sockets.keys()) socket.destroy();
    await closed;
  }

  #accept(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    socket.on('error', () => undefined);
    if (!this.#mayEnter(address)) {
      socket.destroy();
      return;
    }
    this.#sockets.set(socket, address);
    socket.once('close', () => this.#sockets.delete(socket));
    const handlers = this.#open(address);
    const publish = async (key: string, connection: RtmpConnection) => {
      const judged = await handlers.publish(key, connection);
      if (judged === 'unknown') this.#countFailure(address);
      return judged;
    };
    new RtmpConnection(socket, { ...handlers, publish }, this.#limits).run();
  }

  #mayEnter(address: string): boolean {
    const { maxConnectionsOfAddress, maxFailures } = this.#limits;
    if ((this.#failures.get(address) ?? 0) >= maxFailures) return false;
    let open = 0;
    for (const other of this.#sockets.values()) if (other === address) open += 1;
    return open < maxConnectionsOfAddress;
  }

  #countFailure(address: string): void {
    const count = (this.#failures.get(address) ?? 0) + 1;
    // The window begins with the first failure.
    this.#failures.set(address, count, { noUpdateTTL: true });
  }
}
