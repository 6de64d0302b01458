/**
 * Simulates phones on bad networks: connections that announce a batch of events and send a few
 * bytes at a time, and some that send only headers. When the service closes one, a new one takes
 * its place.
 */
import { connect, type Socket } from 'node:net';

export type SlowBodies = AsyncDisposable & {
  open(): number;
};

export type SlowBodyOptions = {
  url: string;
  key: string;
  /** Connections that send `bytesEach` every `everyMs`. */
  slow: number;
  /** Connections that send only headers. */
  silent: number;
};

const bodyBytes = 35_000;
const silentBodyBytes = 1024 * 1024;
const bytesEach = 500;
const everyMs = 250;
const reconnectAfterMs = 250;

export async function openSlowBodies(options: SlowBodyOptions): Promise<SlowBodies> {
  const { url, key, slow, silent } = options;
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const dripping = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();

  const openOne = (length: number): void => {
    const socket = connect(Number(port), hostname);
    sockets.add(socket);
    socket.on('connect', () => {
      socket.write(
        'POST /v1/events/batch HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n' +
          `Authorization: Bearer ${key}\r\nContent-Length: ${length}\r\n\r\n`,
      );
      if (length === bodyBytes) dripping.add(socket);
    });
    socket.on('error', () => undefined).on('data', () => socket.destroy());
    socket.on('close', () => {
      dripping.delete(socket);
      if (!sockets.delete(socket)) return;
      const timer = setTimeout(() => {
        timers.delete(timer);
        openOne(length);
      }, reconnectAfterMs);
      timers.add(timer);
    });
  };
  for (let n = 0; n < slow; n += 1) openOne(bodyBytes);
  for (let n = 0; n < silent; n += 1) openOne(silentBodyBytes);
  const drip = setInterval(() => {
    for (const socket of dripping) socket.write(' '.repeat(bytesEach));
  }, everyMs);
  // By now all have sent their headers and first bytes.
  await new Promise((resolve) => setTimeout(resolve, 4 * everyMs));

  return {
    open: () => sockets.size,
    async [Symbol.asyncDispose]() {
      clearInterval(drip);
      for (const timer of timers) clearTimeout(timer);
      const open = [...sockets];
      sockets.clear();
      for (const socket of open) socket.destroy();
    },
  };
}
