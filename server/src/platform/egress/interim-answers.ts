/**
 * Drops interim answers (1xx) from what a socket reads. A client must accept those that it has not
 * asked for (RFC 9110, 15.2), and some servers and gateways send `100 Continue` with every POST, alone
 * or behind a `103`; undici ends the connection at a 100. Nothing here uses what the others say.
 * `101` is an answer: nothing was asked to switch protocols, so undici refuses it.
 */
import type { Socket } from 'node:net';

const interim = /^HTTP\/1\.[01] 1(?!01)\d\d/;
/** `HTTP/1.1 103` */
const statusEnds = 12;
const headEnd = Buffer.from('\r\n\r\n');
const maxHeadBytes = 8_192;
/** For one request. A receiver that sends more says something else than an answer. */
const maxInterimAnswers = 16;

export function dropInterimAnswers(socket: Socket): Socket {
  /** Whether the next bytes start a response; the bytes received so far while that is undecided. */
  let isAnswerDue = true;
  let held: Buffer | null = null;
  let dropped = 0;
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  const write = socket.write.bind(socket);

  socket.write = ((...args: Parameters<Socket['write']>) => {
    isAnswerDue = true;
    dropped = 0;
    return write(...args);
  }) as Socket['write'];

  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = read(size);
      if (chunk === null || !isAnswerDue) return chunk;
      held = held === null ? chunk : Buffer.concat([held, chunk]);
      for (let end = interimEnd(held); end > 0; end = interimEnd(held)) {
        held = held.subarray(end);
        dropped += 1;
      }
      if (dropped > maxInterimAnswers || held.length > maxHeadBytes || isFinal(held)) {
        const rest = held;
        held = null;
        isAnswerDue = false;
        // Bytes that are no HTTP end the exchange as a breach of the protocol.
        return dropped > maxInterimAnswers ? Buffer.from('too many interim answers\r\n\r\n') : rest;
      }
    }
  };
  return socket;
}

/** Where an interim answer ends that the bytes start with; 0 without a whole one. */
function interimEnd(bytes: Buffer): number {
  if (!interim.test(bytes.toString('latin1', 0, statusEnds))) return 0;
  const at = bytes.indexOf(headEnd);
  return at === -1 ? 0 : at + headEnd.length;
}

/** Whether the bytes are enough to say that no interim answer starts here. */
function isFinal(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, statusEnds);
  if (start.length === statusEnds) return !interim.test(start);
  return !['HTTP/1.1 1', 'HTTP/1.0 1'].some((begin) => begin.startsWith(start.slice(0, 10)));
}
