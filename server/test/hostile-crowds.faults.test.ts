/**
 * Proves that crowds of hostile connections leave the service alive, bounded and responsive for
 * others: idle sockets, slow headers (slowloris), and more live tails than allowed.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { generateKey } from '../src/features/keys/key-format.ts';
import { atEnd, cloneDatabase } from './database.ts';
import { startProcess } from './processes.ts';
import { createOrganization } from './seed.ts';
import { eventually, send, temporaryFolder, type TestService } from './service.ts';
import { until } from './waiting.ts';

const connection = await cloneDatabase();
const key = generateKey('secret');
const service = await startProcess(connection, await temporaryFolder(), {
  REELFEED_SECRET_KEY: key,
});
after(() => service.kill());

const maxAddedMegabytes = 256;
const maxWaitMs = 10_000;
const connectedAtOnce = 250;

async function residentMegabytes(): Promise<number> {
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_024);
}

async function openSockets(count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(service.url);
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const opened = Array.from({ length: Math.min(connectedAtOnce, count - sockets.length) }, () =>
      connect(Number(port), hostname).on('error', () => undefined),
    );
    await Promise.all(opened.map((socket) => once(socket, 'connect')));
    sockets.push(...opened);
  }
  atEnd(async () => {
    for (const socket of sockets) socket.destroy();
  });
  return sockets;
}

async function isQuick(what: string): Promise<void> {
  const startedAt = performance.now();
  const answer = await send(`${service.url}/v1/feed`, 'GET', { key });
  assert.equal(answer.status, 200, what);
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs < maxWaitMs, `${what}: another request took ${Math.round(tookMs)} ms`);
}

test('ten thousand idle sockets cost little, and others are served', async () => {
  await isQuick('before');
  const before = await residentMegabytes();
  const sockets = await openSockets(10_000);
  await isQuick('with 10,000 idle sockets');
  const added = (await residentMegabytes()) - before;
  assert.ok(added < maxAddedMegabytes, `${added} MB more`);
  for (const socket of sockets) socket.destroy();
  assert.equal((await send(`${service.url}/healthz`, 'GET')).status, 200);
});

test('a thousand slow heads are cut off, and others are served in the meantime', async () => {
  const before = await residentMegabytes();
  const sockets = await openSockets(1_000);
  const open = new Set(sockets);
  for (const socket of sockets) {
    socket.resume().once('close', () => void open.delete(socket));
    socket.write('GET /v1/feed HTTP/1.1\r\nHost: x\r\nX-Slow: ');
  }
  const dripping = setInterval(() => {
    for (const socket of open) socket.write('a');
  }, 1_000);
  atEnd(async () => clearInterval(dripping));
  await isQuick('while heads drip');
  const added = (await residentMegabytes()) - before;
  assert.ok(added < maxAddedMegabytes, `${added} MB more`);
  await until(
    'all to be cut off',
    () => open.size,
    (count) => count === 0,
    180_000,
  );
  clearInterval(dripping);
  await isQuick('after');
});

test('of 300 live tails, as many as fit are open, and the others are asked to wait', async () => {
  const before = await residentMegabytes();
  const organizations = await Promise.all(
    Array.from({ length: 15 }, (_, index) =>
      createOrganization({ connection } as TestService, `Tails ${index}`),
    ),
  );
  const answers: IncomingMessage[] = [];
  for (const { secretKey } of organizations) {
    const opened = Array.from({ length: 20 }, async () => {
      const asked = request(`${service.url}/v1/events/stream`, {
        headers: { authorization: `Bearer ${secretKey}` },
      });
      asked.on('error', () => undefined).end();
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      answer.on('error', () => undefined).resume();
      return answer;
    });
    answers.push(...(await Promise.all(opened)));
  }
  atEnd(async () => {
    for (const answer of answers) answer.destroy();
  });
  const count = (status: number) =>
    answers.filter(({ statusCode }) => statusCode === status).length;
  assert.deepEqual([count(200), count(429)], [200, 100]);
  await isQuick('with 200 live tails');
  const added = (await residentMegabytes()) - before;
  assert.ok(added < maxAddedMegabytes, `${added} MB more`);
  for (const answer of answers) answer.destroy();
  await eventually('room for another', async () => {
    const again = request(`${service.url}/v1/events/stream`, {
      headers: { authorization: `Bearer ${key}` },
    });
    again.on('error', () => undefined).end();
    const [answer] = (await once(again, 'response')) as [IncomingMessage];
    answer.destroy();
    return answer.statusCode === 200 ? true : null;
  });
});
