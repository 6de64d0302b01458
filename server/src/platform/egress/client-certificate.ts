/**
 * Receivers that demand a client certificate, of which we have none. Under TLS 1.3 the client
 * finishes the handshake before the server rejects it, so the connection then closes or breaks, and
 * the alert with the reason is usually lost. This must not look like a network failure.
 */
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

const code = 'ERR_TLS_CLIENT_CERTIFICATE_DEMANDED';

/**
 * Turns the end of a connection before the first byte of a response into a TLS failure, if that is
 * the cause.
 */
export function noteDemandedCertificate(socket: Socket): void {
  // A client learns signature algorithms of its peer only from a request for a certificate.
  if (!(socket instanceof TLSSocket) || socket.getSharedSigalgs().length === 0) return;
  socket.prependOnceListener('end', () => {
    if (socket.readableDidRead) return;
    socket.destroy(Object.assign(new Error('a client certificate is required'), { code }));
  });
  socket.prependOnceListener('error', (error) => {
    if (!socket.readableDidRead) Object.assign(error, { code });
  });
}
