/**
 * A bare server that parses JSON bodies and responds like event intake: the upper bound it is
 * compared with. Argument: the port.
 */
import { once } from 'node:events';
import { fastify } from 'fastify';

const app = fastify({ logger: false });
app.post('/*', (request, reply) => {
  const body = request.body as { events?: unknown[] };
  return reply.send({
    data: { received: body.events?.length ?? 1, failed: 0, errors: [] },
    meta: { requestId: 'req_01k0000000000000000000000' },
  });
});
await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' });
process.stdout.write('listening\n');
await once(process, 'SIGTERM');
await app.close();
