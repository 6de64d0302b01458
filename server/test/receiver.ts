/** Real HTTPS receivers for tests on loopback, trusted through their own certificate authority. */
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

/** The certificate authority of a test file's receivers. Pass `cert` to other processes. */
export const authority = await createTestAuthority();
setDefaultCACertificates([...getCACertificates('default'), authority.cert]);

export const receiverCertificate = await authority.issue(['127.0.0.1', 'localhost']);

export type Received = {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** Arrival of the last byte, by this process's monotonic clock. */
  at: number;
};

export type Receiver = {
  url: string;
  /** The value of `REELFEED_EGRESS_ALLOW` that permits it. */
  allow: string;
  requests: Received[];
  /** Number of TCP connections so far, including those that sent nothing. */
  connects: () => number;
  close: () => Promise<void>;
};

/** A receiver's response: a status, or a custom handler. */
export type Answer = number | ((...args: Parameters<RequestListener>) => void);

/** Starts a receiver that stops at the end of the test file. `answer` defaults to 204. */
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

/** A plain TCP server that stops at the end of the test file. */
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
