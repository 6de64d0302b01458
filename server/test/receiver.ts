/** Real HTTPS receivers for tests, on the loopback interface, trusted through their own authority. */
import { once } from 'node:events';
import { type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { atEnd } from './database.ts';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import {
  createTestAuthority,
  type TestCertificate,
} from '../src/platform/egress/test-certificate.ts';

/** The authority of all receivers of a test file. Give `cert` to other processes. */
export const authority = await createTestAuthority();
setDefaultCACertificates([...getCACertificates('default'), authority.cert]);

export const receiverCertificate = await authority.issue(['127.0.0.1', 'localhost']);

export type Received = {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** When the last byte had arrived, by the monotonic clock of this process. */
  at: number;
};

export type Receiver = {
  url: string;
  /** What `REELFEED_EGRESS_ALLOW` must say to reach it. */
  allow: string;
  requests: Received[];
  /** TCP connections so far, those that sent nothing included. */
  connects: () => number;
  close: () => Promise<void>;
};

/** How a receiver answers: a status, or anything by hand. */
export type Answer = number | ((...args: Parameters<RequestListener>) => void);

/** Starts a receiver that ends with the test file. `answer` says how; default 204. */
export async function startReceiver(
  answer: (received: Received, count: number) => Answer = () => 204,
  certificate: TestCertificate = receiverCertificate,
): Promise<Receiver> {
  const requests: Received[] = [];
  const server = createServer(certificate, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const { url: path = '', headers } = request;
      const received = { path, headers, body, at: performance.now() };
      requests.push(received);
      const given = answer(received, requests.length);
      if (typeof given === 'number') response.writeHead(given).end();
      else given(request, response);
    });
  });
  return { ...(await listen(server, 'https')), requests };
}

/** A plain TCP server that ends with the test file. */
export async function startListener(onConnect: (socket: Socket) => void, server: Server) {
  return listen(server.on('connection', onConnect), 'https');
}

async function listen(server: Server, scheme: string): Promise<Omit<Receiver, 'requests'>> {
  const sockets = new Set<Socket>();
  let connects = 0;
  server.on('connection', (socket) => {
    connects += 1;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  atEnd(close);
  const { port } = server.address() as AddressInfo;
  const allow = `127.0.0.1:${port}`;
  return { url: `${scheme}://${allow}/hook`, allow, connects: () => connects, close };
}
