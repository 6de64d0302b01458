/** Proves that HTTPS connections have the same limits as plain HTTP, even before the handshake. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { after, test } from 'node:test';
import { atEnd, silentLog } from '../../../test/database.ts';
import { sendRaw } from '../../../test/raw-http.ts';
import { temporaryFolder } from '../../../test/service.ts';
import { until } from '../../../test/waiting.ts';
import { createTestCertificate } from '../egress/test-certificate.ts';
import { ServedCertificate } from '../tls/served-certificate.ts';
import { testConnections } from './connections.fixture.ts';
import { ApiError } from './errors.ts';
import { createHttpServer } from './server.ts';

const folder = await temporaryFolder();
const files = { certificate: path.join(folder, 'cert.pem'), key: path.join(folder, 'key.pem') };
const made = await createTestCertificate(['127.0.0.1']);
await writeFile(files.certificate, made.cert);
await writeFile(files.key, made.key);
const certificate = await ServedCertificate.open(files, silentLog);
atEnd(() => certificate[Symbol.asyncDispose]());

await testConnections(certificate);

const secured = await createHttpServer({
  log: silentLog,
  publicUrl: 'https://localhost',
  version: '0',
  certificate,
  authenticate: async () => {
    throw new ApiError('UNAUTHORIZED');
  },
  observe: () => undefined,
  isDraining: () => false,
  isClosing: () => false,
  headersTimeoutMs: 1_000,
});
const { app } = secured;
secured.complete();
const url = (await app.listen({ port: 0, host: '127.0.0.1' })).replace('http:', 'https:');
after(() => app.close());

const openConnections = () =>
  new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)));

function openSocket(): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  atEnd(async () => void socket.destroy());
  socket.on('error', () => undefined).resume();
  return socket;
}

test('silent connections, and handshakes that stop half-way, are closed like slow headers', async () => {
  const silent = openSocket();
  const halfway = openSocket();
  const [clientHello, version, lengthOfMore] = [0x16, 0x0301, 0x0200];
  halfway.write(Buffer.from([clientHello, version >> 8, version & 255, lengthOfMore >> 8, 0, 1]));
  await until('both to be open', openConnections, (count) => count === 2);
  await until('both to be closed', openConnections, (count) => count === 0);
  await until('the clients to know', () => silent.closed && halfway.closed, Boolean);
  const slow = await sendRaw(url, ['GET /nope HTTP/1.1\r\nHost: x\r\n']);
  assert.deepEqual([slow.statuses, slow.body.error.code], [[408], 'REQUEST_TIMEOUT']);
});

test('plain HTTP gets one sentence, and other bytes end the connection', async () => {
  const plain = await sendRaw(url.replace('https:', 'http:'), [
    'GET /v1/feed HTTP/1.1\r\nHost: x\r\n\r\n',
  ]);
  assert.deepEqual([plain.statuses, plain.closed], [[400], true]);
  assert.match(plain.text, /\r\n\r\nThis port serves HTTPS, but the request was plain HTTP/);
  const garbage = await sendRaw(url.replace('https:', 'http:'), [Buffer.alloc(300, 7)]);
  assert.deepEqual([garbage.text.includes('HTTP'), garbage.closed], [false, true]);
  await until('no connection to be left', openConnections, (count) => count === 0);
});
