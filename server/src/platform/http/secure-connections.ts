/**
 * TLS below Node's HTTP server. The server takes over a connection before the handshake, so its
 * limits on silent and slow clients apply, and it closes connections, just as with plain HTTP.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ServedCertificate } from '../tls/served-certificate.ts';
import { ApiError } from './errors.ts';

const shakingHands = new WeakSet<Socket>();

/** Whether a connection is still in its handshake, so that no response can be sent. */
export function isShakingHands(socket: Socket): boolean {
  return shakingHands.has(socket);
}

/** Must be called once for each server, before it listens. */
export function speakTls(server: Server, certificate: ServedCertificate): void {
  const serve = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const secured = certificate.secure(socket);
    shakingHands.add(secured);
    secured.once('secure', () => shakingHands.delete(secured));
    secured.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_SSL_HTTP_REQUEST' && socket.writable) socket.end(plainAnswer());
    });
    for (const one of serve) one.call(server, secured);
  });
}

/** The response to a client that speaks plain HTTP on this port. */
function plainAnswer(): string {
  const error = new ApiError('INVALID_REQUEST', {
    message: 'This port serves HTTPS, but the request was plain HTTP. Use https://.',
  });
  const body = `${error.message}\n`;
  return (
    'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n' +
    `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
  );
}
