/** A real server on the loopback interface for tests, which counts connections. */
import type { RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type LookupFunction, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { createTestCertificate, type TestCertificate } from './test-certificate.ts';

export type TestReceiver = {
  readonly port: number;
  /** TCP connections so far, including those that sent nothing. */
  readonly connects: () => number;
};

/** The DNS name in the receiver's certificate. */
export const receiverName = 'receiver.test';

export const receiverCertificate = await createTestCertificate([receiverName, '127.0.0.1']);

/** Starts an HTTPS server that ends with the test. */
export function startReceiver(
  t: TestContext,
  onRequest: RequestListener,
  certificate: TestCertificate = receiverCertificate,
): Promise<TestReceiver> {
  return listen(t, createHttpsServer(certificate, onRequest), '127.0.0.1', 0);
}

/** Starts a plain TCP server that ends with the test. */
export function startListener(
  t: TestContext,
  onConnect: (socket: Socket) => void,
  { host = '127.0.0.1', port = 0 } = {},
): Promise<TestReceiver> {
  return listen(t, createServer(onConnect), host, port);
}

/** A `dns.lookup` that returns these results one after another, then the last one forever. */
export function lookupGiving(...answers: string[][]): LookupFunction & { calls: () => number } {
  let calls = 0;
  const lookup: LookupFunction = (_name, _options, callback) => {
    const addresses = answers[Math.min(calls, answers.length - 1)] ?? [];
    calls += 1;
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    setImmediate(() => callback(null, found));
  };
  return Object.assign(lookup, { calls: () => calls });
}

async function listen(
  t: TestContext,
  server: Server,
  host: string,
  port: number,
): Promise<TestReceiver> {
  const sockets = new Set<Socket>();
  let connects = 0;
  server.on('connection', (socket) => {
    connects += 1;
    sockets.add(socket.on('error', () => undefined));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP port');
  return { port: address.port, connects: () => connects };
}
