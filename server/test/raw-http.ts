/** Hand-written HTTP, for requests that no HTTP client would send. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectByTls } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';
import { pause } from './waiting.ts';

export type RawAnswer = {
  /** Everything received, byte by byte. */
  text: string;
  /** The status of each response on the connection, in order. */
  statuses: number[];
  /** Whether the peer closed the connection before `timeoutMs`. */
  closed: boolean;
  /** The JSON body of the last response, or undefined if it is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  body: any;
};

/**
 * Writes the pieces to a new connection (a number is a pause in milliseconds) and reads until the
 * peer closes it, until `answers` responses have started, or until `timeoutMs` after the last
 * piece.
 */
export async function sendRaw(
  url: string,
  pieces: readonly (string | Uint8Array | number)[],
  { timeoutMs = 10_000, answers = Infinity }: { timeoutMs?: number; answers?: number } = {},
): Promise<RawAnswer> {
  const { hostname, port, protocol } = new URL(url);
  const target = { port: Number(port), host: hostname };
  const socket =
    protocol === 'https:'
      ? connectByTls({ ...target, rejectUnauthorized: false })
      : connect(target);
  let text = '';
  let closed = false;
  const enough = Promise.withResolvers<void>();
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    if (statusesOf(text).length >= answers) enough.resolve();
  });
  const ended = once(socket, 'close').catch(() => undefined);
  socket.on('error', () => undefined);
  void ended.then(() => (closed = true));
  for (const piece of pieces) {
    if (closed) break;
    if (typeof piece === 'number') await Promise.race([pause(piece, 'the client is slow'), ended]);
    else if (socket.writable) socket.write(piece);
  }
  const timer = new AbortController();
  await Promise.race([
    ended,
    enough.promise,
    delay(timeoutMs, undefined, { signal: timer.signal }).catch(() => undefined),
  ]);
  timer.abort();
  const wasClosed = closed;
  socket.destroy();
  return { text, statuses: statusesOf(text), closed: wasClosed, body: parseLast(text) };
}

function statusesOf(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
}

function parseLast(text: string): unknown {
  try {
    return JSON.parse(text.slice(text.lastIndexOf('\r\n\r\n') + 4));
  } catch {
    return undefined;
  }
}
