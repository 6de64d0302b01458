/**
 * The receiver of the demo's webhooks: HTTPS on the loopback interface, with its own certificate.
 */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createTestAuthority } from '../../platform/egress/test-certificate.ts';

export type DemoReceiver = AsyncDisposable & {
  /** Host and port, in the format of `REELFEED_EGRESS_ALLOW`. */
  readonly host: string;
};

/** Every third request to `/sometimes` fails, so that there are retries to look at. */
export async function startDemoReceiver(): Promise<DemoReceiver> {
  const authority = await createTestAuthority();
  setDefaultCACertificates([...getCACertificates('default'), authority.cert]);
  let requests = 0;
  const server = createServer(await authority.issue(['127.0.0.1']), (request, response) => {
    request.resume().on('end', () => {
      requests += 1;
      const fails = request.url === '/sometimes' && requests % 3 === 0;
      response.writeHead(fails ? 500 : 200).end(fails ? 'Not now.' : 'Thank you.');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
