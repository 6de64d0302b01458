/**
 * An HTTPS proxy for a test's plain HTTP server, trusted through the authority of `receiver.ts`.
 */
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import { atEnd } from './database.ts';
import { receiverCertificate } from './receiver.ts';

/** @returns its URL, and the value of `REELFEED_EGRESS_ALLOW` that permits it */
export async function startTlsProxy(target: string): Promise<{ url: string; allow: string }> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer(receiverCertificate, (client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => undefined);
    }
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    client.pipe(upstream).pipe(client);
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${address.port}`, allow: `127.0.0.1:${address.port}` };
}
