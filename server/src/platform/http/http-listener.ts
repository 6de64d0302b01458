import { createServer, type RequestListener, type Server } from 'node:http';
import type { ServedCertificate } from '../tls/served-certificate.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { speakTls } from './secure-connections.ts';
import { closeStalled, UnreadAnswers } from './unread-answers.ts';

export type ListenerLimits = {
  headersTimeoutMs: number;
  /** Maximum time that a response waits for a client that reads none of it. */
  stalledAnswerMs: number;
};

const keepAliveTimeoutMs = 72_000;

/**
 * Node's server, on which Fastify's `handle` runs. All requests go through `oneAtATime`, including
 * those that Node would answer by itself: without a `Host`, and with an `Expect`; see
 * `request-heads.ts`. With a certificate it speaks HTTPS.
 */
export function createListener(
  handle: RequestListener,
  limits: ListenerLimits,
  certificate: ServedCertificate | null,
): Server {
  const unread = new UnreadAnswers();
  const onRequest = oneAtATime((request, response) => {
    unread.follow(response);
    handle(request, response);
  });
  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      // Node checks for slow headers only this often.
      connectionsCheckingInterval: limits.headersTimeoutMs / 2,
      // It would also cut off uploads, which may take hours. JSON bodies have a separate timeout in
      // `parseJsonBodies`, and uploads have an inactivity timeout.
      requestTimeout: 0,
      keepAliveTimeout: keepAliveTimeoutMs,
      requireHostHeader: false,
    },
    onRequest,
  );
  server.on('checkContinue', onRequest).on('checkExpectation', onRequest);
  closeStalled(server, limits.stalledAnswerMs);
  if (certificate !== null) speakTls(server, certificate);
  return server;
}
