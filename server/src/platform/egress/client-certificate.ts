/**
 * Receivers that demand a certificate of the client, which we have none of. Under TLS 1.3 the client
 * is done before the server refuses it, so what follows is a connection that closes or breaks; the
 * alert that says why is mostly lost with it. That must not look like a failure of the network.
 */
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

const code = 'ERR_TLS_CLIENT_CERTIFICATE_DEMANDED';

/** Makes a connection that ends before the first byte of an answer a failure of TLS, if that is why. */
export function noteDemandedCertificate(socket: Socket): void {
  // A client learns signature algorithms of its peer only from a request for a certificate.
  if (!(socket instanceof TLSSocket) || socket.getSharedSigalgs().length === 0) return;
  socket.prependOnceListener('end', () => {
    if (socket.readableDidRead) return;
    socket.destroy(Object.assign(new Error('a client certificate is demanded'), { code }));
  });
  socket.prependOnceListener('error', (error) => {
    if (!socket.readableDidRead) Object.assign(error, { code });
  });
}
