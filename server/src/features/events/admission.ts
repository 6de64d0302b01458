/**
 * What comes beyond capacity is refused before its body is read: parsing what is thrown away after
 * would take the time of those who are served, and its garbage their memory.
 *
 * What counts is the size of the bodies that are in hand, from the head of a request to its answer.
 * Events whose client has gone away meanwhile are bounded by the group commit.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpApp } from '../../platform/http/app.ts';
import { overloaded } from './group-commit.ts';

/** JSON; the objects made of it take about six times as much. */
const mostBytesInHand = 3 * 1024 * 1024;
/** For a body that does not say how long it is, and for what a request costs beside its body. */
const unknownBytes = 64 * 1024;
const leastBytes = 1024;
/** How much larger compressed bodies get, as a guess; a larger one is caught by its own limit. */
const unpackedRatio = 5;

/** Refuses requests with 503 while too much is in hand. */
export function limitBodiesInHand(app: HttpApp): void {
  let bytesInHand = 0;
  app.addHook('onRequest', async (request, reply) => {
    const bytes = expectedBytes(request);
    if (bytesInHand + bytes > mostBytesInHand) throw overloaded();
    bytesInHand += bytes;
    whenOver(reply, () => (bytesInHand -= bytes));
  });
}

function expectedBytes({ headers }: FastifyRequest): number {
  const length = Number(headers['content-length'] ?? unknownBytes);
  const ratio = headers['content-encoding'] === undefined ? 1 : unpackedRatio;
  return Math.max(leastBytes, length * ratio);
}

/** After the answer, and also where the client went away before it. */
function whenOver({ raw }: FastifyReply, done: () => void): void {
  if (raw.closed) done();
  else raw.once('close', done);
}
