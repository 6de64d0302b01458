/** Tests for the limits of a connection, over HTTP and HTTPS. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { connect as connectByTls } from 'node:tls';
import { atEnd, silentLog } from '../../../test/database.ts';
import { sendRaw } from '../../../test/raw-http.ts';
import { eventually, pause } from '../../../test/waiting.ts';
import type { ServedCertificate } from '../tls/served-certificate.ts';
import { ApiError } from './errors.ts';
import { createHttpServer } from './server.ts';

/** Defines the tests for a server with this certificate, or without TLS. */
export async function testConnections(certificate: ServedCertificate | null): Promise<void> {
  const mebibyte = 1024 * 1024;
  const stalledAnswerMs = 1_000;
  const server = await createHttpServer({
    log: silentLog,
    publicUrl: 'http://localhost',
    version: '0',
    authenticate: async () => {
      throw new ApiError('UNAUTHORIZED');
    },
    observe: () => undefined,
    isDraining: () => false,
    isClosing: () => false,
    stalledAnswerMs,
    certificate,
  });
  const { app } = server;
  const open = { config: { access: 'public' as const } };
  let handled = 0;
  let underWay = 0;
  let mostUnderWay = 0;
  app.get('/count', open, async () => {
    underWay += 1;
    mostUnderWay = Math.max(mostUnderWay, underWay);
    await pause(5, 'a handler that takes a moment');
    underWay -= 1;
    handled += 1;
    return { data: handled };
  });
  app.get('/last', open, (_request, reply) =>
    reply.header('connection', 'close').send({ data: 1 }),
  );
  app.get('/patient', open, async () => {
    await pause(stalledAnswerMs * 3, 'a handler that takes longer than a stalled answer may');
    return { data: 'done' };
  });
  const large = 'x'.repeat(16 * mebibyte);
  app.get('/large', open, () => {
    handled += 1;
    return { data: large };
  });
  app.post('/numbers', open, () => ({ data: 'taken' }));
  app.post('/locked', { config: { access: 'secret' } }, () => ({ data: 'in' }));
  server.complete();
  const plainUrl = await app.listen({ port: 0, host: '127.0.0.1' });
  const url = certificate === null ? plainUrl : plainUrl.replace('http:', 'https:');
  after(() => app.close());

  const get = (target: string, ...headers: string[]) =>
    [`GET ${target} HTTP/1.1`, ...(headers.length === 0 ? ['Host: x'] : headers), '', ''].join(
      '\r\n',
    );

  /** A connection whose responses are not read until it is resumed. */
  function openSocket(): Socket {
    const { hostname, port } = new URL(url);
    const target = { port: Number(port), host: hostname };
    const socket =
      certificate === null
        ? connect(target)
        : connectByTls({ ...target, rejectUnauthorized: false });
    socket.pause();
    atEnd(async () => void socket.destroy());
    socket.on('error', () => undefined);
    return socket;
  }

  const openConnections = () =>
    new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)));

  const connectionsAre = (count: number) =>
    eventually(`${count} connections`, async () =>
      (await openConnections()) === count ? true : null,
    );

  test('requests that are sent ahead are handled one at a time and answered in order', async () => {
    handled = 0;
    const { text } = await sendRaw(url, [get('/count').repeat(10)], { answers: 10 });
    const answers = [...text.matchAll(/"data":(\d+)/g)].map((match) => Number(match[1]));
    assert.deepEqual(answers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert.equal(mostUnderWay, 1);
  });

  const floods: Record<string, { request: string; status: number }> = {
    'a malformed path': { request: get('/%'), status: 400 },
    'an unknown path': { request: get('/nope'), status: 404 },
    'a path of 600 characters': { request: get(`/${'x'.repeat(600)}`), status: 404 },
    'no Host': { request: get('/count', 'X-A: 1'), status: 400 },
    'an unknown expectation': {
      request: get('/count', 'Host: x', 'Expect: nonsense'),
      status: 417,
    },
    'a method that the route lacks': {
      request: get('/count').replace('GET', 'PROPFIND'),
      status: 405,
    },
  };

  for (const [name, { request, status }] of Object.entries(floods)) {
    test(`of 1,500 requests with ${name} at most 16 are answered`, async () => {
      const { statuses, closed } = await sendRaw(url, [request.repeat(1_500)]);
      assert.equal(closed, true);
      assert.ok(statuses.length >= 1 && statuses.length <= 16, `${statuses.length} answers`);
      assert.deepEqual(new Set(statuses), new Set([status]));
    });
  }

  test('an upgrade is answered like any other request', async () => {
    const head = get('/nope', 'Host: x', 'Connection: upgrade', 'Upgrade: websocket');
    assert.deepEqual((await sendRaw(url, [head], { answers: 1 })).statuses, [404]);
  });

  test('bytes that are no HTTP do not get into the answers before them', async () => {
    const answer = await sendRaw(url, [get('/count').repeat(2), 'garbage\r\n\r\n']);
    assert.deepEqual(answer.statuses, [200, 200]);
    assert.equal(answer.closed, true);
  });

  test('nothing is handled after an answer that ends its connection', async () => {
    handled = 0;
    const answer = await sendRaw(url, [get('/last') + get('/count')]);
    assert.deepEqual([answer.statuses, answer.closed], [[200], true]);
    assert.equal(handled, 0);
  });

  test('a request is handled only when the answer before it was taken', async () => {
    handled = 0;
    const socket = openSocket();
    socket.write(get('/large') + get('/count'));
    await eventually('the first request', async () => (handled === 1 ? true : null));
    // Ten responses on another connection: by then the second request would have been handled.
    await sendRaw(url, [get('/nope').repeat(10)], { answers: 10 });
    assert.equal(handled, 1);
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => (bytes += chunk.length)).resume();
    await eventually('both answers', async () =>
      handled === 2 && bytes > large.length ? true : null,
    );
    socket.destroy();
  });

  test('a client that reads nothing is cut off, and one that reads slowly is not', async () => {
    await connectionsAre(0);
    openSocket().write(get('/large'));
    const slow = openSocket();
    let bytes = 0;
    let bytesAtPause = 0;
    slow.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      // TLS delivers chunks a quarter the size of those of plain TCP.
      if (bytes - bytesAtPause < 64 * 1024) return;
      bytesAtPause = bytes;
      slow.pause();
      void pause(10, 'a slow reader').then(() => slow.resume());
    });
    slow.write(get('/large'));
    slow.resume();
    await connectionsAre(2);
    await connectionsAre(1);
    assert.ok(bytes < large.length, 'the slow one is still reading');
    await eventually('the slow answer', async () => (bytes > large.length ? true : null));
    slow.destroy();
  });

  test('a request that takes its time is not cut off', async () => {
    const { statuses } = await sendRaw(url, [get('/patient')], { answers: 1 });
    assert.deepEqual(statuses, [200]);
  });

  test('answers that nobody reads share 64 MiB: those that have waited longest are cut off', async () => {
    await connectionsAre(0);
    handled = 0;
    const sockets = [];
    for (let count = 1; count <= 12; count += 1) {
      const socket = openSocket();
      sockets.push(socket);
      socket.write(get('/large'));
      await eventually(`request ${count}`, async () => (handled === count ? true : null));
      assert.ok((await openConnections()) <= 6, 'at most four or five such answers wait');
    }
    for (const socket of sockets) socket.destroy();
  });

  test('a request without one Host header is 400 in the envelope, except in HTTP/1.0', async () => {
    const heads = {
      none: get('/count', 'X-A: 1'),
      two: get('/count', 'Host: x', 'Host: y'),
      'the same twice': get('/count', 'Host: x', 'host: x'),
    };
    for (const [name, head] of Object.entries(heads)) {
      const { statuses, body, closed, text } = await sendRaw(url, [head]);
      assert.deepEqual([statuses, closed], [[400], true], name);
      assert.equal(body.error.code, 'INVALID_REQUEST', name);
      assert.match(body.meta.requestId, /^req_/, name);
      assert.match(text, /x-request-id: req_/, name);
    }
    const old = await sendRaw(url, ['GET /count HTTP/1.0\r\n\r\n']);
    assert.deepEqual(old.statuses, [200]);
  });

  test('an expectation that is not known is 417 in the envelope', async () => {
    const answer = await sendRaw(url, [get('/count', 'Host: x', 'Expect: nonsense')]);
    assert.deepEqual(answer.statuses, [417]);
    assert.equal(answer.body.error.code, 'EXPECTATION_FAILED');
    assert.match(answer.body.meta.requestId, /^req_/);
  });

  test('a client is not asked for a body that its key does not allow', async () => {
    const head = 'POST /locked HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    const { statuses } = await sendRaw(url, [
      `${head}Content-Length: 100000\r\nExpect: 100-continue\r\n\r\n`,
    ]);
    assert.deepEqual(statuses, [401]);
  });

  test('a body in thousands of single bytes is refused, and one in some pieces is taken', async () => {
    const head =
      'POST /numbers HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
      'Transfer-Encoding: chunked\r\n\r\n';
    const chunked = (pieces: readonly string[]) =>
      pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('');
    const tiny = await sendRaw(url, [head, chunked(Array.from({ length: 5_000 }, () => '1'))]);
    assert.deepEqual([tiny.statuses, tiny.closed], [[400], true]);
    assert.match(tiny.body.error.message, /chunks of a few bytes/);
    const pieces = ['[', ...Array.from({ length: 900 }, () => '1,'), '1]'];
    const whole = await sendRaw(url, [`${head}${chunked(pieces)}0\r\n\r\n`], { answers: 1 });
    assert.deepEqual(whole.statuses, [200]);
  });
}
