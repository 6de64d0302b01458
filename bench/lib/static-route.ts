/**
 * A bare server that sends the same bytes from memory: the upper bound that routes are compared
 * with.
 */
import { fastify } from 'fastify';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';

const [port, file] = process.argv.slice(2);
const body = readFileSync(file ?? '', 'utf8');
const app = fastify({ logger: false });
app.get('/', (_request, reply) => reply.type('application/json; charset=utf-8').send(body));
await app.listen({ port: Number(port), host: '127.0.0.1' });
process.stdout.write('listening\n');
await once(process, 'SIGTERM');
await app.close();
