/**
 * Closing the server without breaking a request: listening → draining → closed.
 *
 * Draining starts with the call and lasts until each request that was under way by then has its
 * answer. The server keeps listening meanwhile, so that a load balancer reads 503 from `/readyz`
 * and late clients get an answer with `Retry-After` rather than a refused connection.
 */
import type { ServerResponse } from 'node:http';
import { awaitedLater } from '../awaited-later.ts';
import { Bag } from '../bag.ts';
import { sleep } from '../lifecycle.ts';
import type { HttpApp } from './app.ts';

const cutAgainMs = 200;

/**
 * Follows the requests of a server; call it before routes are added.
 *
 * @returns closes the server; requests that outlast `graceMs` milliseconds are cut off
 */
export function followRequests(app: HttpApp): (graceMs: number) => Promise<void> {
  const open = new Bag<{ readonly response: ServerResponse; place: number }>();
  app.addHook('onRequest', (_request, { raw }, done) => {
    // The client may have gone while the hooks before this one were at work.
    if (!raw.closed) {
      const exchange = { response: raw, place: 0 };
      open.add(exchange);
      raw.on('close', () => open.delete(exchange));
    }
    done();
  });
  return async (graceMs) => {
    const closed = new AbortController();
    const cutting = awaitedLater(cutOff(app, graceMs, closed.signal));
    try {
      // Connections that are cut off close as well, so this ends within the grace.
      await Promise.all(Array.from(open, ({ response }) => settle(response)));
      await app.close();
    } finally {
      closed.abort();
      await cutting;
    }
  };
}

/** Resolves with the end of an answer; its connection is not used for another request. */
async function settle(response: ServerResponse): Promise<void> {
  if (!response.headersSent) response.shouldKeepAlive = false;
  await new Promise((resolve) => response.once('close', resolve));
}

/** Again and again, because the server may still have accepted a connection. */
async function cutOff({ server }: HttpApp, graceMs: number, closed: AbortSignal): Promise<void> {
  await sleep(graceMs, closed);
  while (!closed.aborted) {
    server.closeAllConnections();
    await sleep(cutAgainMs, closed);
  }
}
