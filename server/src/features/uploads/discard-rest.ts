import type { FastifyRequest } from 'fastify';

const discardMs = 5_000;

/**
 * Keeps reading for a moment after a rejection: closing the connection while the client still sends
 * would reset it, and the client would never see the response.
 */
export function discardRest(request: FastifyRequest): void {
  const { raw } = request;
  if (raw.readableEnded || raw.destroyed) return;
  // The previous reader still holds the stream and would keep it from flowing.
  raw.unpipe();
  raw.removeAllListeners('readable');
  raw.on('data', () => undefined).resume();
  const timer = setTimeout(() => raw.destroy(), discardMs);
  // After this body, the connection continues to serve other requests.
  const clear = () => clearTimeout(timer);
  raw.once('end', clear).once('close', clear);
}
