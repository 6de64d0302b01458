import { once } from 'node:events';
import { createServer } from 'node:http';

/** No request that is only redirected needs longer, or more. */
const limits = { headersTimeout: 5_000, requestTimeout: 5_000, connectionsCheckingInterval: 2_500 };
const maxHeaderSize = 16 * 1024;

/**
 * Listens for plain HTTP, and leads every request to the same path below `publicUrl`. Nothing of the
 * request but its path is in the answer, so no `Host` header leads elsewhere.
 *
 * @throws when the port cannot be had
 */
export async function redirectToHttps(
  { port, host }: { port: number; host: string },
  publicUrl: string,
): Promise<AsyncDisposable> {
  const server = createServer({ ...limits, maxHeaderSize }, (request, response) => {
    const path = request.url?.startsWith('/') === true ? request.url : '/';
    const headers = { location: publicUrl + path, connection: 'close', 'content-length': 0 };
    response.writeHead(308, headers).end();
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
