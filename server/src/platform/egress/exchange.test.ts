import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { parseAllowList } from './allow-list.ts';
import { BlockedAddressError } from './egress-errors.ts';
import { createEgress, type Egress, type EgressOptions } from './egress.ts';
import { createTestCertificate } from './test-certificate.ts';
import {
  lookupGiving,
  receiverCertificate,
  receiverName,
  startListener,
  startReceiver,
  type TestReceiver,
} from './test-receiver.ts';
import { eventually, pause, until } from '../../../test/waiting.ts';

const limits = { totalTimeoutMs: 5_000, maxBodyBytes: 65_536 };

/** A client that can reach every port of 127.0.0.1, under any name. */
function open(t: TestContext, options: Partial<EgressOptions> = {}): Egress {
  const egress = createEgress({
    allow: parseAllowList(['127.0.0.1']),
    ca: [receiverCertificate.cert],
    lookup: lookupGiving(['127.0.0.1']),
    ...options,
  });
  t.after(() => egress[Symbol.asyncDispose]());
  return egress;
}

async function startBoth(
  t: TestContext,
  onRequest: RequestListener,
): Promise<{ egress: Egress; receiver: TestReceiver; url: string }> {
  const receiver = await startReceiver(t, onRequest);
  return { egress: open(t), receiver, url: `https://${receiverName}:${receiver.port}/hook?a=1` };
}

test('a request arrives with the name in Host and SNI, its headers and its exact body', async (t) => {
  const seen: Record<string, unknown> = {};
  const { egress, receiver, url } = await startBoth(t, (request, response) => {
    const body: Buffer[] = [];
    request.on('data', (chunk: Buffer) => body.push(chunk));
    request.on('end', () => {
      const { method, headers, url: target } = request;
      Object.assign(seen, { method, target, host: headers.host, sent: headers['x-sent'] });
      Object.assign(seen, { encoding: headers['accept-encoding'], body: Buffer.concat(body) });
      if ('servername' in request.socket) seen['servername'] = request.socket.servername;
      response.writeHead(201, { 'x-answer': 'yes' }).end('done');
    });
  });
  const body = Buffer.from('{"title":"Zoë 🚀"}');
  const sent = { method: 'POST', headers: { 'x-sent': '1' }, body } as const;
  const response = await egress.request({ url, ...limits, ...sent });
  assert.deepEqual(seen, {
    method: 'POST',
    target: '/hook?a=1',
    host: `${receiverName}:${receiver.port}`,
    servername: receiverName,
    sent: '1',
    encoding: 'identity',
    body,
  });
  assert.equal(response.status, 201);
  assert.equal(response.headers['x-answer'], 'yes');
  assert.equal(response.body.toString(), 'done');
  assert.equal(response.truncated, false);
  assert.ok(response.elapsedMs > 0);
});

test('no redirect is followed, and nobody connects to where it points', async (t) => {
  const second = await startListener(t, (socket) => socket.destroy());
  for (const status of [301, 302, 303, 307, 308]) {
    const location = `https://127.0.0.1:${second.port}/`;
    const { egress, url } = await startBoth(t, (_request, response) => {
      response.writeHead(status, { location }).end();
    });
    assert.equal((await egress.request({ url, ...limits, method: 'POST' })).status, status);
  }
  assert.equal(second.connects(), 0);
});

test('an endless response is truncated, an encoded one stays encoded', async (t) => {
  const bomb = gzipSync(Buffer.alloc(10 * 2 ** 20));
  let closed = false;
  const { egress, url } = await startBoth(t, (request, response) => {
    if (request.method === 'POST') {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
      return;
    }
    response.on('close', () => (closed = true));
    const more = (): void => {
      while (!closed && response.write(Buffer.alloc(16_384)));
    };
    more();
    response.on('drain', more);
  });
  const endless = await egress.request({ url, ...limits });
  assert.equal(endless.status, 200);
  assert.equal(endless.body.length, limits.maxBodyBytes);
  assert.equal(endless.truncated, true);
  await until('the connection to be closed', () => closed, Boolean);
  const packed = await egress.request({ url, ...limits, method: 'POST' });
  assert.deepEqual(packed.body, bomb);
  assert.equal(packed.truncated, false);
});

test('an answer of exactly the limit is whole', async (t) => {
  const { egress, url } = await startBoth(t, (_request, response) => response.end('12345'));
  const exact = await egress.request({ url, ...limits, maxBodyBytes: 5 });
  assert.deepEqual([exact.body.toString(), exact.truncated], ['12345', false]);
  const cut = await egress.request({ url, ...limits, maxBodyBytes: 4 });
  assert.deepEqual([cut.body.toString(), cut.truncated], ['1234', true]);
});

test('the deadline covers a body that drips, headers that never come, and TLS that hangs', async (t) => {
  const drip = await startBoth(t, (_request, response) => {
    const timer = setInterval(() => response.write('.'), 20);
    response.on('close', () => clearInterval(timer));
  });
  const silent = await startBoth(t, () => undefined);
  const deaf = await startListener(t, () => undefined);
  const short = { ...limits, totalTimeoutMs: 300 };
  for (const { egress, url } of [drip, silent]) {
    const startedAt = performance.now();
    await assert.rejects(egress.request({ url, ...short }), { failure: 'timeout' });
    assert.ok(performance.now() - startedAt < 3_000);
  }
  const connecting = open(t, { connectTimeoutMs: 300 });
  const startedAt = performance.now();
  const url = `https://${receiverName}:${deaf.port}/`;
  await assert.rejects(connecting.request({ url, ...limits }), { failure: 'timeout' });
  assert.ok(performance.now() - startedAt < 4_000);
});

test('each way of failing has its class', async (t) => {
  const expired = await createTestCertificate([receiverName], { expired: true });
  const otherName = await createTestCertificate(['other.test']);
  const ca = [receiverCertificate.cert, expired.cert, otherName.cert];
  const egress = open(t, { ca });
  const answer: RequestListener = (_request, response) => response.end();
  const closing = await startListener(t, (socket) => socket.destroy());
  const garbage = await startListener(t, (socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
  const plain = await startListener(t, (socket) => socket.end('hello, no HTTP\r\n\r\n'));
  const unused = await startListener(t, () => undefined, { host: '127.0.0.2' }).catch(
    () => closing,
  );
  const cases: [string, string, string][] = [
    ['https', 'tls_error', `${(await startReceiver(t, answer, expired)).port}`],
    ['https', 'tls_error', `${(await startReceiver(t, answer, otherName)).port}`],
    ['https', 'tls_error', `${garbage.port}`],
    ['https', 'connection_error', `${closing.port}`],
    ['http', 'protocol_error', `${plain.port}`],
    ...(unused === closing
      ? []
      : [['https', 'connection_refused', `${unused.port}`] as [string, string, string]]),
  ];
  for (const [scheme, failure, port] of cases) {
    const url = `${scheme}://${receiverName}:${port}/`;
    const schemes = ['http:', 'https:'] as const;
    await assert.rejects(
      egress.request({ url, schemes, ...limits }),
      { failure },
      `${failure} ${url}`,
    );
  }
  const untrusting = open(t, { ca: [otherName.cert] });
  const { port } = await startReceiver(t, answer);
  const url = `https://${receiverName}:${port}/`;
  await assert.rejects(untrusting.request({ url, ...limits }), { failure: 'tls_error' });
});

test('a receiver that demands a client certificate is a failure of TLS', async (t) => {
  const egress = open(t, { ca: [receiverCertificate.cert] });
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const demand = { requestCert: true, rejectUnauthorized: true, maxVersion };
    const answer: RequestListener = (_request, response) => response.end();
    const { port } = await startReceiver(t, answer, { ...receiverCertificate, ...demand });
    const url = `https://${receiverName}:${port}/`;
    for (const body of ['', 'x'.repeat(200_000)]) {
      const request = { url, method: 'POST' as const, body, ...limits };
      await assert.rejects(egress.request(request), { failure: 'tls_error' }, maxVersion);
    }
  }
});

test('the caller’s signal ends a request with its own reason', async (t) => {
  const arrived = Promise.withResolvers<void>();
  const { egress, url } = await startBoth(t, () => arrived.resolve());
  const controller = new AbortController();
  const request = egress.request({ url, ...limits }, controller.signal);
  await arrived.promise;
  controller.abort(new Error('shutting down'));
  await assert.rejects(request, { message: 'shutting down' });
  await assert.rejects(egress.request({ url, ...limits }, controller.signal), {
    message: 'shutting down',
  });
});

test('a 100 Continue that nobody asked for is not an answer, however it is cut', async (t) => {
  const crlf = String.fromCharCode(13, 10);
  const { egress, url } = await startBoth(t, (request, response) => {
    const { socket } = request;
    if (request.headers['x-cut'] === undefined) {
      response.writeContinue();
      response.writeContinue();
      response.writeHead(201).end('HTTP/1.1 100 is what it says');
      return;
    }
    const parts = [
      'HTTP/1.',
      '1 100 Cont',
      `inue${crlf}${crlf[0]}`,
      `${crlf[1]}HTTP/1.1 204 No Content${crlf}${crlf}`,
    ];
    const next = () => {
      const part = parts.shift();
      if (part === undefined) return;
      socket.write(part, () => void pause(20, 'the parts arrive one by one').then(next));
    };
    next();
  });
  const post = { method: 'POST', body: '{}' } as const;
  for (let n = 0; n < 2; n += 1) {
    const { status, body } = await egress.request({ url, ...limits, ...post });
    assert.deepEqual([status, body.toString()], [201, 'HTTP/1.1 100 is what it says']);
  }
  const cut = await egress.request({ url, ...limits, ...post, headers: { 'x-cut': '1' } });
  assert.equal(cut.status, 204);
});

test('interim answers may come in any order, in one packet and by HTTP/1.0, but not without end', async (t) => {
  const crlf = String.fromCharCode(13, 10);
  const head = (line: string) => `${line}${crlf}${crlf}`;
  const early = head(`HTTP/1.1 103 Early Hints${crlf}Link: </a.css>; rel=preload`);
  const answers = [
    early + head('HTTP/1.1 100 Continue') + head('HTTP/1.1 204 No Content'),
    head('HTTP/1.0 100 Continue') + early + head('HTTP/1.1 204 No Content'),
    head('HTTP/1.1 102 Processing').repeat(15) + head('HTTP/1.1 204 No Content'),
  ];
  const flood = head('HTTP/1.1 103 Early Hints').repeat(20);
  let isOpen = true;
  const { egress, url } = await startBoth(t, (request, response) => {
    const { socket } = request;
    const text = answers[Number(request.headers['x-answer'])];
    if (text !== undefined) return void socket.end(text);
    response.on('close', () => (isOpen = false));
    const next = () => isOpen && socket.write(flood, () => setImmediate(next));
    next();
  });
  const post = { method: 'POST', body: '{}' } as const;
  for (const n of answers.keys()) {
    const { status } = await egress.request({
      url,
      ...limits,
      ...post,
      headers: { 'x-answer': String(n) },
    });
    assert.equal(status, 204, `answer ${n}`);
  }
  await assert.rejects(egress.request({ url, ...limits, ...post }), { failure: 'protocol_error' });
  await eventually('the flood to end', async () => (isOpen ? null : true));
});

test('hosts that cannot exist are rejected', async (t) => {
  const egress = open(t);
  const label = 'a'.repeat(64);
  const long = `${'a.'.repeat(126)}ab`;
  for (const host of ['*.example.org', `${label}.example.org`, long, 'a!b.example.org']) {
    await assert.rejects(egress.checkUrl(`https://${host}/`), { failure: 'invalid_url' }, host);
  }
  await egress.checkUrl(`https://${'a'.repeat(63)}.example_1.org/`);
});

test('a request that is refused as it begins sends nothing and leaves its connection to the next', async (t) => {
  const { egress, receiver, url } = await startBoth(t, (_request, response) => response.end());
  const refusal = new Error('too late');
  const onBegin = () => {
    throw refusal;
  };
  await assert.rejects(egress.request({ url, ...limits, onBegin }), refusal);
  assert.equal(receiver.connects(), 1);
  await assert.rejects(egress.request({ url, ...limits, onBegin }), refusal);
  let begun = 0;
  await egress.request({ url, ...limits, onBegin: () => (begun += 1) });
  assert.deepEqual([begun, receiver.connects()], [1, 1]);
});

test('many requests that hang at an origin hold up no other one there', async (t) => {
  const { egress, url } = await startBoth(t, (request, response) => {
    if (request.headers['x-hang'] === undefined) response.end();
  });
  const given = new AbortController();
  const hanging = Array.from({ length: 100 }, () =>
    egress.request(
      { url, ...limits, totalTimeoutMs: 600_000, headers: { 'x-hang': '1' } },
      given.signal,
    ),
  );
  const { status } = await egress.request({ url, ...limits, totalTimeoutMs: 60_000 });
  assert.equal(status, 200);
  given.abort();
  await Promise.allSettled(hanging);
});

test('connections are reused, and one that hangs holds up no other request', async (t) => {
  const { egress, receiver, url } = await startBoth(t, (request, response) => {
    if (request.url !== '/hang') response.end('ok');
  });
  for (let count = 0; count < 20; count += 1) await egress.request({ url, ...limits });
  assert.ok(receiver.connects() <= 2, `${receiver.connects()} connections`);
  const hanging = egress.request({
    url: new URL('/hang', url).href,
    ...limits,
    totalTimeoutMs: 2_000,
  });
  let hasEnded = false;
  const outcome = assert.rejects(hanging, { failure: 'timeout' }).finally(() => (hasEnded = true));
  for (let count = 0; count < 5; count += 1) await egress.request({ url, ...limits });
  assert.equal(hasEnded, false, 'five answers while one request hangs');
  await outcome;
});

test('no more connections are opened than requests are under way', async (t) => {
  const { egress, receiver, url } = await startBoth(t, (_request, response) => response.end());
  const inTurn = async () => {
    for (let count = 0; count < 20; count += 1) await egress.request({ url, ...limits });
  };
  await Promise.all(Array.from({ length: 16 }, inTurn));
  assert.ok(receiver.connects() <= 16, `${receiver.connects()} connections`);
});

test('a download follows a few redirects, checks each, and tells no second host the headers', async (t) => {
  const seen: unknown[] = [];
  const target = await startReceiver(t, (request, response) => {
    seen.push(request.headers['x-token']);
    response.end('video');
  });
  const inside = await startListener(t, (socket) => socket.destroy(), { host: '127.0.0.2' }).catch(
    () => null,
  );
  const { egress, url } = await startBoth(t, (request, response) => {
    const locations: Record<string, string> = {
      '/ok': `https://${receiverName}:${target.port}/clip.mp4#t=1`,
      '/loop': '/loop',
      '/inside': `https://127.0.0.2:${inside?.port ?? 1}/`,
      '/scheme': 'file:///etc/passwd',
    };
    response.writeHead(302, { location: locations[request.url ?? ''] ?? '/' }).end();
  });
  const start = { ...limits, maxRedirects: 3, headers: { 'x-token': 'secret' } };
  const download = await egress.download({ ...start, url: new URL('/ok', url).href });
  assert.equal(Buffer.concat(await Array.fromAsync(download.body)).toString(), 'video');
  assert.equal(download.url.pathname, '/clip.mp4');
  assert.deepEqual(seen, [undefined]);
  const fails = (path: string, expected: object): Promise<void> =>
    assert.rejects(egress.download({ ...start, url: new URL(path, url).href }), expected);
  await fails('/loop', { failure: 'too_many_redirects' });
  await fails('/inside', BlockedAddressError);
  await fails('/scheme', { failure: 'invalid_url' });
  assert.equal(inside?.connects() ?? 0, 0);
});

test('a download stops at its size and at its deadline, and can be given up', async (t) => {
  const { egress, url } = await startBoth(t, (request, response) => {
    response.write(Buffer.alloc(50_000));
    if (request.url === '/whole') response.end(Buffer.alloc(50_000));
  });
  const whole = { url: new URL('/whole', url).href, totalTimeoutMs: 2_000, maxRedirects: 0 };
  const tooLarge = await egress.download({ ...whole, maxBodyBytes: 99_999 });
  await assert.rejects(Array.fromAsync(tooLarge.body), { failure: 'too_large' });
  const exact = await egress.download({ ...whole, maxBodyBytes: 100_000 });
  assert.equal(Buffer.concat(await Array.fromAsync(exact.body)).length, 100_000);
  const stalled = { url, maxRedirects: 0, maxBodyBytes: 1e6, totalTimeoutMs: 300 };
  const late = await egress.download(stalled);
  await assert.rejects(Array.fromAsync(late.body), { failure: 'timeout' });
  {
    await using unread = await egress.download({ ...stalled, totalTimeoutMs: 60_000 });
    assert.equal(unread.status, 200);
  }
});

test('connections are kept for the next request, and replaced when they are old', async (t) => {
  const { receiver, url } = await startBoth(t, (_request, response) => response.end('ok'));
  const egress = open(t, { connectionMaxAgeMs: 2_000 });
  const requestFiveTimes = async (): Promise<void> => {
    for (let n = 0; n < 5; n += 1) {
      await egress.request({ url, ...limits });
      await pause(5, 'the connection is free after the turn in which its answer has ended');
    }
  };
  await requestFiveTimes();
  assert.equal(receiver.connects(), 1);
  await pause(2_000, 'the connection grows old');
  await requestFiveTimes();
  assert.equal(receiver.connects(), 2);
});

test('what is under way on an old connection ends there', async (t) => {
  const { receiver, url } = await startBoth(t, (request, response) => {
    const ms = request.url === '/hook?a=1' ? 500 : 0;
    void pause(ms, 'one answer is slow').then(() => response.end('late'));
  });
  const egress = open(t, { connectionMaxAgeMs: 100 });
  const slow = egress.request({ url, ...limits });
  await pause(150, 'the connection grows old');
  await egress.request({ url: url.replace('a=1', 'a=2'), ...limits });
  assert.equal((await slow).body.toString(), 'late');
  assert.equal(receiver.connects(), 2);
});

test('hundreds of requests end with one signal, and none is left listening', async (t) => {
  const { egress, url } = await startBoth(t, () => undefined);
  const controller = new AbortController();
  const sent = Array.from({ length: 300 }, () =>
    egress.request({ url, ...limits }, controller.signal).catch((error: unknown) => error),
  );
  await pause(50, 'some are under way');
  const reason = new Error('stopped');
  controller.abort(reason);
  assert.deepEqual(new Set(await Promise.all(sent)), new Set([reason]));
});
