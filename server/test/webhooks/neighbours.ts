/** Misbehaving receivers, selected by path or by what happens before there is a path. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** The behaviors of a receiver; each is the first segment of a request's path. */
export const badAnswers = ['slow', 'headers', 'body', 'drip', 'interim', 'reset', 'gzip'] as const;
export type BadAnswer = (typeof badAnswers)[number];

const slowMs = 1_900;
const dripEveryMs = 1_000;
/** Compressed in a worker thread, so that the receiver remains responsive. */
const bomb = promisify(gzip)(Buffer.alloc(16 * 1024 * 1024));
const earlyHints = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n';

export function badAnswerOf(path = ''): BadAnswer | null {
  return badAnswers.find((name) => path.startsWith(`/${name}`)) ?? null;
}

export function answerBadly(name: BadAnswer, request: IncomingMessage, response: ServerResponse) {
  const { socket } = request;
  switch (name) {
    case 'slow':
      setTimeout(() => response.writeHead(200).end(), slowMs);
      return;
    case 'headers':
      return;
    case 'body':
      response.writeHead(200, { 'content-length': '1000' }).write('a');
      return;
    case 'drip': {
      response.writeHead(200).flushHeaders();
      const timer = setInterval(() => response.write('a'), dripEveryMs);
      socket.once('close', () => clearInterval(timer));
      return;
    }
    case 'interim':
      flood(socket);
      return;
    case 'reset':
      socket.destroy();
      return;
    case 'gzip':
      response.writeHead(200, { 'content-encoding': 'gzip' });
      void bomb.then((bytes) => response.end(bytes));
      return;
    default:
      throw name satisfies never;
  }
}

/** Sends interim responses without end. */
function flood(socket: Socket): void {
  const next = (): void => {
    if (socket.destroyed) return;
    socket.write(earlyHints, () => setImmediate(next));
  };
  next();
}

/** A port that accepts connections but stays silent, like a hanging handshake. */
export async function startSilentPort(): Promise<{ port: number; server: Server }> {
  const server = createServer((socket) => void socket.on('error', () => undefined).unref());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, server };
}

/**
 * A name server that never responds.
 * @returns its address in the format of a resolver
 */
export async function startSilentNameServer(): Promise<{ address: string; close: () => void }> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { address: `127.0.0.1:${socket.address().port}`, close: () => void socket.close() };
}
