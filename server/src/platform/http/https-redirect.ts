import { once } from 'node:events';
import { createServer } from 'node:http';

/** A request that is only redirected needs no more time or space than this. */
const limits = { headersTimeout: 5_000, requestTimeout: 5_000, connectionsCheckingInterval: 2_500 };
const maxHeaderSize = 16 * 1024;

/**
 * Listens for plain HTTP and redirects every request to the same path below `publicUrl`. The
 * response contains only the path of the request, so a forged `Host` header cannot redirect it
 * elsewhere.
 *
 * @throws if the port is not available
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
