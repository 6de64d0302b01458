/** A minimal load balancer: it probes `/readyz`, never retries, and keeps connections alive. */
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { send } from './service.ts';

type Backend = { url: string; agent: Agent; isHealthy: boolean };

export type Balancer = AsyncDisposable & {
  url: string;
  /** Adds a backend, which receives requests once it has passed a probe. */
  add(url: string): void;
  healthy(): number;
};

export async function startBalancer(probeIntervalMs: number): Promise<Balancer> {
  const backends = new Set<Backend>();
  let turn = 0;
  const probe = async (backend: Backend) => {
    const status = await send(`${backend.url}/readyz`, 'GET').then(
      (answer) => answer.status,
      () => 0,
    );
    backend.isHealthy = status === 200;
    // A backend that is gone is removed.
    if (status === 0) backends.delete(backend);
  };
  const timer = setInterval(() => backends.forEach((one) => void probe(one)), probeIntervalMs);
  const server = createServer((incoming, outgoing) => {
    const healthy = [...backends].filter(({ isHealthy }) => isHealthy);
    // Fails open like real balancers: if none is healthy, all receive requests.
    const open = healthy.length > 0 ? healthy : [...backends];
    const backend = open[(turn += 1) % open.length];
    if (backend === undefined) {
      outgoing.writeHead(502).end('no backend');
      return;
    }
    const { method = 'GET', headers } = incoming;
    const sent = request(
      backend.url + incoming.url,
      { method, headers, agent: backend.agent },
      (answer) => {
        const { connection: _hop, ...others } = answer.headers;
        outgoing.writeHead(answer.statusCode ?? 502, others);
        answer.pipe(outgoing);
      },
    );
    sent.on('error', (error) => {
      if (!outgoing.headersSent) outgoing.writeHead(502);
      outgoing.end(`the backend failed: ${error.message}`);
    });
    incoming.pipe(sent);
  }).listen(0, '127.0.0.1');
  // Longer than any pause between two requests, so that none hits a closing connection.
  server.keepAliveTimeout = 120_000;
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add(url) {
      const backend = { url, agent: new Agent({ keepAlive: true }), isHealthy: false };
      backends.add(backend);
      void probe(backend);
    },
    healthy: () => [...backends].filter(({ isHealthy }) => isHealthy).length,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      for (const { agent } of backends) agent.destroy();
    },
  };
}
