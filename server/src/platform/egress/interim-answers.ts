/**
 * Drops `100 Continue` from what a socket reads. A client must accept it although it has not asked for
 * it (RFC 9110, 15.2), and some servers and gateways send it with every POST; undici ends the
 * connection instead. Other interim answers it ignores itself.
 */
import type { Socket } from 'node:net';

const start = Buffer.from('HTTP/1.1 100');
const end = Buffer.from('\r\n\r\n');
const maxBytes = 8_192;

export function dropContinue(socket: Socket): Socket {
  /** Whether the next bytes start a response; the bytes received so far while that is undecided. */
  let isAnswerDue = true;
  let held: Buffer | null = null;
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  const write = socket.write.bind(socket);

  socket.write = ((...args: Parameters<Socket['write']>) => {
    isAnswerDue = true;
    return write(...args);
  }) as Socket['write'];

  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = read(size);
      if (chunk === null || !isAnswerDue) return chunk;
      held = held === null ? chunk : Buffer.concat([held, chunk]);
      const rest = withoutContinue(held);
      if (rest === null) continue;
      held = null;
      if (rest.length === 0) continue;
      isAnswerDue = false;
      return rest;
    }
  };
  return socket;
}

/** The bytes behind every `100 Continue`; null when more bytes must tell. */
function withoutContinue(bytes: Buffer): Buffer | null {
  let rest = bytes;
  for (;;) {
    const compared = Math.min(rest.length, start.length);
    if (rest.compare(start, 0, compared, 0, compared) !== 0) return rest;
    if (rest.length === 0) return rest;
    const at = rest.length < start.length ? -1 : rest.indexOf(end);
    if (at === -1) return rest.length > maxBytes ? rest : null;
    rest = rest.subarray(at + end.length);
  }
}
