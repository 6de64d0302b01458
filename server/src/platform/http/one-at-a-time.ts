/**
 * Handles the requests of a connection one at a time, and bounds how many of them wait.
 *
 * HTTP/1.1 lets a client send requests without waiting for answers. Node makes a request of each as
 * soon as it is parsed, up to two thousand from one chunk of 64 KB, and keeps their answers in memory
 * until the client has read those before them. Here a request is handled when the answer before it has
 * been handed to the operating system, so a client that does not read costs at most one answer.
 *
 * This is done before routing, because the router answers malformed paths by itself.
 *
 *   parsed ──▶ under way ──▶ answered ──▶ the next one takes its turn
 *      │           ▲
 *      ├─▶ waiting ┘   while another one is under way
 *      └─▶ dropped     while `maxUnanswered` are under way or waiting
 *
 * A dropped request ends its connection, which RFC 9112 (section 9.3.2) allows: the requests before it
 * are answered, and nothing that follows is read.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { takeTurn } from './turns.ts';

/** More than any browser or proxy sends ahead; most send nothing ahead. */
const maxUnanswered = 16;

/** How long a connection that went over the limit may take for the answers it still gets. */
const overrunTimeoutMs = 1_000;

/** Tells Node's parser not to read a body. */
const skipBody = 2;

const state = Symbol('requests of a connection');

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };
/** Lives on its connection: requests come and go too fast for a map of them (decision 0009). */
type Requests = { underWay: Exchange | null; readonly waiting: Exchange[]; isEnding: boolean };
type HttpSocket = Socket & {
  [state]?: Requests;
  /** Node's parser of the connection, and what it calls for each request; Node documents neither. */
  parser?: { onIncoming: () => number } | null;
};

/** Wraps what handles the requests of a server. */
export function oneAtATime(handle: RequestListener): RequestListener {
  const begin = (socket: Socket, requests: Requests, exchange: Exchange): void => {
    requests.underWay = exchange;
    exchange.response.on('close', () => {
      const next = requests.waiting.shift();
      if (next === undefined) {
        requests.underWay = null;
        if (requests.isEnding) socket.destroy();
        return;
      }
      takeTurn(() => {
        // The last answer may have closed the connection, which then can't carry another one.
        if (socket.writable) begin(socket, requests, next);
      });
    });
    handle(exchange.request, exchange.response);
  };
  return (request, response) => {
    const socket: HttpSocket = request.socket;
    const requests = (socket[state] ??= { underWay: null, waiting: [], isEnding: false });
    if (requests.isEnding) return;
    const exchange = { request, response };
    if (requests.underWay === null) {
      begin(socket, requests, exchange);
    } else if (requests.waiting.length < maxUnanswered - 1) {
      requests.waiting.push(exchange);
    } else {
      endAfterAnswers(socket);
      // A client that does not read its answers must not keep the dropped requests in memory.
      const timer = setTimeout(() => socket.destroy(), overrunTimeoutMs);
      socket.once('close', () => clearTimeout(timer));
    }
  };
}

/** The request that is under way on a connection, or null. */
export function requestUnderWay(socket: Socket): Exchange | null {
  return (socket as HttpSocket)[state]?.underWay ?? null;
}

/** Reads nothing more from a connection that has requests, and closes it after the last answer. */
export function endAfterAnswers(socket: HttpSocket): void {
  const requests = socket[state];
  if (requests === undefined || requests.isEnding) return;
  requests.isEnding = true;
  socket.pause();
  // Node would still make a request of each head in the chunk, and an error for each when the
  // connection closes: together a third of a second for four connections.
  if (socket.parser) socket.parser.onIncoming = () => skipBody;
  const last = requests.waiting.at(-1) ?? requests.underWay;
  if (last !== null && !last.response.headersSent) last.response.shouldKeepAlive = false;
}
