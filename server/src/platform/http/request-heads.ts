/** HTTP requirements for request headers that Node does not check. */
import type { IncomingMessage } from 'node:http';
import type { HttpApp } from './app.ts';
import { ApiError } from './errors.ts';

const expectsContinue = /^100-continue$/i;

/** Must be called after the hook that assigns request ids, and before any other. */
export function checkHeads(app: HttpApp): void {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    refuseBadHost(raw);
    refuseExpectation(raw);
    done();
  });
  // A client that sends `Expect` sends no body until its key has been checked.
  app.addHook('preParsing', ({ raw }, reply, payload, done) => {
    if (expectationOf(raw) !== null) reply.raw.writeContinue();
    done(null, payload);
  });
}

/**
 * Proxies that disagree about which of two `Host` headers counts can be played off against each
 * other (RFC 9112, section 3.2). The connection is closed, because whatever follows on it can't be
 * trusted either.
 */
function refuseBadHost({ rawHeaders, httpVersionMinor }: IncomingMessage): void {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  if (count === 1 || (count === 0 && httpVersionMinor === 0)) return;
  throw new ApiError('INVALID_REQUEST', {
    message: `The request has ${count === 0 ? 'no Host header' : 'more than one Host header'}.`,
    headers: { connection: 'close' },
  });
}

/** @throws ApiError for anything but `100-continue`, the only expectation that exists */
function refuseExpectation(raw: IncomingMessage): void {
  const expectation = expectationOf(raw);
  if (expectation === null || expectsContinue.test(expectation)) return;
  throw new ApiError('EXPECTATION_FAILED', { headers: { connection: 'close' } });
}

/** Null for HTTP/1.0, which has no expectations. */
function expectationOf({ headers, httpVersionMinor }: IncomingMessage): string | null {
  return httpVersionMinor === 0 ? null : (headers.expect ?? null);
}
