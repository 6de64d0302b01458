/**
 * Bounds how many requests of one connection wait for their answers.
 *
 * HTTP/1.1 lets a client send requests without waiting, and Node hands out every request of a chunk
 * (64 KB, some two thousand requests) at once. Their answers would pile up in memory, because a
 * connection sends them one after the other. So requests beyond the limit are dropped unread: the
 * connection answers those before them and closes, which RFC 9112 (section 9.3.2) allows.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpApp } from './app.ts';

/** More than any browser or proxy sends ahead; most send nothing ahead. */
const maxUnanswered = 16;

/** How long a connection that went over the limit may take for the answers it still gets. */
const overrunTimeoutMs = 1_000;

/** Tells Node's parser not to read a body. */
const skipBody = 2;

const state = Symbol('unanswered requests');

/** Lives on its connection: requests come and go too fast for a map of them (decision 0009). */
type Unanswered = { count: number; last: ServerResponse | null; overrun: boolean };
type CountedSocket = Socket & {
  [state]?: Unanswered;
  /** Node's parser of the connection, and what it calls for each request; Node documents neither. */
  parser?: { onIncoming: () => number } | null;
};

/** Call it before any other hook is added: a dropped request must cost nothing further. */
export function limitPipelining(app: HttpApp): void {
  app.addHook('onRequest', (request, reply, done) => {
    const socket: CountedSocket = request.raw.socket;
    const unanswered = (socket[state] ??= { count: 0, last: null, overrun: false });
    if (unanswered.count === maxUnanswered) endAfterAnswers(socket, unanswered);
    if (unanswered.overrun) {
      reply.hijack();
      return;
    }
    unanswered.count += 1;
    unanswered.last = reply.raw;
    reply.raw.on('close', () => {
      unanswered.count -= 1;
      if (unanswered.count > 0) return;
      unanswered.last = null;
      if (unanswered.overrun) socket.destroy();
    });
    done();
  });
}

function endAfterAnswers(socket: CountedSocket, unanswered: Unanswered): void {
  if (unanswered.overrun) return;
  unanswered.overrun = true;
  socket.pause();
  // Node would still make a request of each head in the chunk, and an error for each when the
  // connection closes: together a third of a second for four connections.
  if (socket.parser) socket.parser.onIncoming = () => skipBody;
  const { last } = unanswered;
  if (last !== null && !last.headersSent) last.shouldKeepAlive = false;
  // A client that does not read its answers must not keep the dropped requests in memory.
  const timer = setTimeout(() => socket.destroy(), overrunTimeoutMs);
  socket.once('close', () => clearTimeout(timer));
}
