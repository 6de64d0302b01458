/**
 * Drops interim responses (1xx) from the data that a socket reads. A client must accept unexpected
 * ones (RFC 9110, 15.2), and some servers and gateways send `100 Continue` with every POST, alone
 * or after a `103`; undici ends the connection at a 100. Nothing here uses the contents of the
 * others. `101` counts as a final response: no protocol switch was requested, so undici rejects it.
 */
import type { Socket } from 'node:net';

const interim = /^HTTP\/1\.[01] 1(?!01)\d\d/;
/** The length of `HTTP/1.1 103`. */
const statusEnds = 12;
const headEnd = Buffer.from('\r\n\r\n');
const maxHeadBytes = 8_192;
/** The limit for one request. A receiver that sends more is not answering. */
const maxInterimAnswers = 16;

export function dropInterimAnswers(socket: Socket): Socket {
  /**
   * Whether the next bytes start a response. `held` collects the bytes received while this is
   * undecided.
   */
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
        // Bytes that are not HTTP end the exchange as a protocol violation.
        return dropped > maxInterimAnswers
          ? Buffer.from('too many interim responses\r\n\r\n')
          : rest;
      }
    }
  };
  return socket;
}

/** The end of the interim response at the start of the bytes; 0 if there is no complete one. */
function interimEnd(bytes: Buffer): number {
  if (!interim.test(bytes.toString('latin1', 0, statusEnds))) return 0;
  const at = bytes.indexOf(headEnd);
  return at === -1 ? 0 : at + headEnd.length;
}

/** Whether the bytes suffice to rule out an interim response. */
function isFinal(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, statusEnds);
  if (start.length === statusEnds) return !interim.test(start);
  return !['HTTP/1.1 1', 'HTTP/1.0 1'].some((begin) => begin.startsWith(start.slice(0, 10)));
}
