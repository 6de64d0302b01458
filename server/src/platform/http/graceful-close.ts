/**
 * Closes the server without breaking requests: listening → draining → closed.
 *
 * Draining begins when closing starts and lasts until every request in flight at that time is
 * answered. Meanwhile the server keeps listening, so that a load balancer gets 503 from `/readyz`
 * and late clients get a response with `Retry-After` rather than a refused connection.
 */
import type { ServerResponse } from 'node:http';
import { awaitedLater } from '../async/awaited-later.ts';
import { Bag } from '../memory/bag.ts';
import { sleep } from '../async/lifecycle.ts';
import type { HttpApp } from './app.ts';

const cutAgainMs = 200;

/**
 * Tracks the requests of a server. Must be called before routes are added.
 *
 * @returns a function that closes the server and cuts off requests that outlast `graceMs`
 * milliseconds
 */
export function followRequests(app: HttpApp): (graceMs: number) => Promise<void> {
  const open = new Bag<{ readonly response: ServerResponse; place: number }>();
  app.addHook('onRequest', (_request, { raw }, done) => {
    // The client may have disconnected during earlier hooks.
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
      // Connections that are cut off close as well, so this ends within the grace period.
      await Promise.all(Array.from(open, ({ response }) => settle(response)));
      await app.close();
    } finally {
      closed.abort();
      await cutting;
    }
  };
}

/** Resolves when a response ends. Its connection is not reused for another request. */
async function settle(response: ServerResponse): Promise<void> {
  if (!response.headersSent) response.shouldKeepAlive = false;
  await new Promise((resolve) => response.once('close', resolve));
}

/** Repeats, because the server may have accepted a connection in the meantime. */
async function cutOff({ server }: HttpApp, graceMs: number, closed: AbortSignal): Promise<void> {
  await sleep(graceMs, closed);
  while (!closed.aborted) {
    server.closeAllConnections();
    await sleep(cutAgainMs, closed);
  }
}
