/** A real HTTP server between a client and the service that can drop or replace responses. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { atEnd } from '../../server/test/database.ts';

/** What happens to a request: it gets the service's response, gets none, or gets another one. */
export type Passage = 'pass' | 'lose answer' | ((response: ServerResponse) => void);

export type Relay = {
  readonly url: string;
  /** Bodies and times of the requests so far. */
  readonly requests: { readonly body: string; readonly atMs: number }[];
};

/**
 * Starts a relay that ends with the test file. `passage` decides by request number, starting at 1.
 */
export async function startRelay(
  serviceUrl: string,
  passage: (count: number) => Passage = () => 'pass',
): Promise<Relay> {
  const requests: Relay['requests'] = [];
  const relay = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    requests.push({ body, atMs: performance.now() });
    const decided = passage(requests.length);
    if (typeof decided === 'function') {
      decided(response);
      return;
    }
    const { authorization = '', 'content-type': type = '' } = request.headers;
    const headers = { authorization, 'content-type': type };
    const answer = await fetch(`${serviceUrl}${request.url}`, { method: 'POST', headers, body });
    const answered = await answer.text();
    if (decided === 'lose answer') request.socket.destroy();
    else response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(answered);
  };
  const server = createServer((request, response) => void relay(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests };
}
