/**
 * Handles the requests of a connection one at a time, and limits how many of them wait.
 *
 * HTTP/1.1 lets a client send requests without waiting for responses. Node creates a request for
 * each as soon as it is parsed, up to two thousand from one chunk of 64 KB, and keeps their
 * responses in memory until the client has read the previous ones. Here a request is handled once
 * the previous response has been handed to the operating system, so a client that does not read
 * costs at most one response.
 *
 * This happens before routing, because the router answers malformed paths by itself.
 *
 *   parsed ──▶ in flight ──▶ answered ──▶ the next one takes its turn
 *      │           ▲
 *      ├─▶ waiting ┘   while another one is in flight
 *      └─▶ dropped     while `maxUnanswered` are in flight or waiting
 *
 * A dropped request ends its connection, which RFC 9112 (section 9.3.2) allows: earlier requests
 * are answered, and nothing that follows is read.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { takeTurn } from './turns.ts';

/** More than any browser or proxy pipelines. Most do not pipeline at all. */
const maxUnanswered = 16;

/** The time limit for the remaining responses of a connection that exceeded the limit. */
const overrunTimeoutMs = 1_000;

/** Tells Node's parser not to read a body. */
const skipBody = 2;

const state = Symbol('requests of a connection');

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };
/**
 * Stored on its connection, because requests come and go too fast for a map of them (decision
 * 0009).
 */
type Requests = { underWay: Exchange | null; readonly waiting: Exchange[]; isEnding: boolean };
type HttpSocket = Socket & {
  [state]?: Requests;
  /** Node's parser of the connection, and its callback for each request; both are undocumented. */
  parser?: { onIncoming: () => number } | null;
};

/** Wraps a server's request handler. */
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
        // The last response may have closed the connection, which then can't carry another
        // response.
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
      // A client that does not read its responses must not keep the dropped requests in memory.
      const timer = setTimeout(() => socket.destroy(), overrunTimeoutMs);
      socket.once('close', () => clearTimeout(timer));
    }
  };
}

/** The request in flight on a connection, or null. */
export function requestUnderWay(socket: Socket): Exchange | null {
  return (socket as HttpSocket)[state]?.underWay ?? null;
}

/** Stops reading from a connection that has requests, and closes it after the last response. */
export function endAfterAnswers(socket: HttpSocket): void {
  const requests = socket[state];
  if (requests === undefined || requests.isEnding) return;
  requests.isEnding = true;
  socket.pause();
  // Otherwise Node would still create a request for each head in the chunk, and an error for each
  // when the connection closes. Together, this takes a third of a second for four connections.
  if (socket.parser) socket.parser.onIncoming = () => skipBody;
  const last = requests.waiting.at(-1) ?? requests.underWay;
  if (last !== null && !last.response.headersSent) last.response.shouldKeepAlive = false;
}
