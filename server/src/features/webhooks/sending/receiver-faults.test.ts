import assert from 'node:assert/strict';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import {
  createTestAuthority,
  createTestCertificate,
} from '../../../platform/egress/test-certificate.ts';
import {
  authority,
  receiverCertificate,
  startListener,
  startReceiver,
} from '../../../../test/receiver.ts';
import { failsWith, startSending } from '../../../../test/webhooks/receivers.ts';

const totalTimeoutMs = 1_500;
const { deliverTo, deliverWith } = await startSending({ connectTimeoutMs: 700, totalTimeoutMs });

describe('a receiver that dawdles', () => {
  test('dripping a byte at a time: ended at the total deadline, a failure', async () => {
    const row = await deliverWith((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 100);
      response.on('close', () => clearInterval(timer));
    });
    failsWith(row, 'timeout', 200);
    assert.ok(row.tookMs >= totalTimeoutMs && row.tookMs < totalTimeoutMs + 4_000, `${row.tookMs}`);
    assert.ok((row.responseTimeMs ?? 0) >= totalTimeoutMs - 5);
  });

  test('never answering: ended at the total deadline', async () => {
    const row = await deliverWith(() => undefined);
    failsWith(row, 'timeout');
    assert.ok(row.tookMs < totalTimeoutMs + 4_000, `${row.tookMs}`);
  });

  test('never speaking TLS: ended at the deadline of connecting', async () => {
    const sockets: Socket[] = [];
    const listener = await startListener((socket) => sockets.push(socket), createServer());
    const row = await deliverTo(listener.url);
    failsWith(row, 'timeout');
    assert.ok((row.responseTimeMs ?? 0) < totalTimeoutMs - 200, `${row.responseTimeMs}`);
    assert.equal(listener.connects(), 1);
  });
});

describe('a receiver that breaks', () => {
  test('refusing connections', async () => {
    const receiver = await startReceiver();
    await receiver.close();
    failsWith(await deliverTo(receiver.url), 'connection_refused');
  });

  test('closing after the request, in mid-headers and in mid-body', async () => {
    const closing: [(socket: Socket) => void, statusCode: number | null][] = [
      [(socket) => socket.destroy(), null],
      [(socket) => socket.end('HTTP/1.1 200 OK\r\nx-half: '), null],
      // The status of an interrupted response is kept.
      [(socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'), 200],
    ];
    for (const [answer, statusCode] of closing) {
      const row = await deliverWith((request) => answer(request.socket));
      failsWith(row, 'connection_error', statusCode);
      assert.equal(row.requests, 1, 'one attempt is one request');
    }
  });

  test('resetting the connection in the TLS handshake', async () => {
    const listener = await startListener(
      (socket) => socket.once('data', () => socket.resetAndDestroy()),
      createServer(),
    );
    failsWith(await deliverTo(listener.url), 'connection_error');
  });

  test('speaking something other than HTTP', async () => {
    const row = await deliverWith((request) => request.socket.end('SSH-2.0-OpenSSH_9.0\r\n'));
    failsWith(row, 'protocol_error');
  });

  test('answering plain HTTP on the port', async () => {
    const listener = await startListener(
      (socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\n')),
      createServer(),
    );
    failsWith(await deliverTo(listener.url), 'tls_error');
  });

  test('a name that does not exist', async () => {
    failsWith(await deliverTo('https://no-such-host.invalid/'), 'dns_error');
  });
});

const badCertificates = [
  ['self-signed', await createTestCertificate(['127.0.0.1'])],
  ['expired', await authority.issue(['127.0.0.1'], { expired: true })],
  ['for another name', await authority.issue(['other.example'])],
  ['of an unknown authority', await (await createTestAuthority()).issue(['127.0.0.1'])],
] as const;

describe('an invalid certificate', () => {
  for (const [what, certificate] of badCertificates) {
    test(`${what}: the receiver gets no byte of the request`, async () => {
      const receiver = await startReceiver(() => 204, certificate);
      failsWith(await deliverTo(receiver.url), 'tls_error');
      assert.equal(receiver.requests.length, 0);
    });
  }
});

test('the receivers of these tests would take anything: the refusals are the sender’s', async () => {
  const server = createHttpsServer(receiverCertificate, (_request, response) => response.end('ok'));
  const listener = await startListener(() => undefined, server);
  const { port } = new URL(listener.url);
  const socket = connect(Number(port), '127.0.0.1');
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.destroy();
  assert.equal(listener.connects(), 1);
});
