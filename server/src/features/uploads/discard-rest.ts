import type { FastifyRequest } from 'fastify';

const discardMs = 5_000;

/**
 * Reads on for a moment after a refusal: a connection that is closed while the client still sends
 * would be reset, and the client would never see the answer.
 */
export function discardRest(request: FastifyRequest): void {
  const { raw } = request;
  if (raw.readableEnded || raw.destroyed) return;
  // Whoever read up to here still holds the stream, and would keep it from flowing.
  raw.unpipe();
  raw.removeAllListeners('readable');
  raw.on('data', () => undefined).resume();
  const timer = setTimeout(() => raw.destroy(), discardMs);
  // The connection continues to serve other requests once this body has gone by.
  const clear = () => clearTimeout(timer);
  raw.once('end', clear).once('close', clear);
}
