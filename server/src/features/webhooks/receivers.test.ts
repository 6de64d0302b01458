import assert from 'node:assert/strict';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer, type Socket } from 'node:net';
import { after, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  createTestAuthority,
  createTestCertificate,
} from '../../platform/egress/test-certificate.ts';
import { parseAllowList } from '../../platform/egress/allow-list.ts';
import { createEgress } from '../../platform/egress/egress.ts';
import { createVault } from '../../platform/vault.ts';
import { openTestDatabase, silentLog } from '../../../test/database.ts';
import {
  authority,
  receiverCertificate,
  startListener,
  startReceiver,
  type Answer,
} from '../../../test/receiver.ts';
import { eventually } from '../../../test/service.ts';
import { inTransaction } from '../../platform/database/database.ts';
import { newTypeId, type OrganizationId } from '../../platform/ids.ts';
import { listDeliveries, type DeliveryRow } from './delivery-queries.ts';
import { createWebhook } from './registrations.ts';
import { startDeliverySender } from './sender.ts';
import { cause } from './webhooks.fixture.ts';

const { db } = await openTestDatabase();
const organizationId: OrganizationId = newTypeId('org');
await db
  .insertInto('organization')
  .values({ organization_id: organizationId, name: 'A' })
  .execute();
const vault = createVault(Buffer.alloc(32, 7));
const totalTimeoutMs = 1_500;
const egress = createEgress({ allow: parseAllowList(['127.0.0.0/8']), connectTimeoutMs: 700 });
const sender = startDeliverySender({
  db,
  log: silentLog,
  egress,
  vault,
  scheduleMs: [0, 3_600_000],
  concurrency: 64,
  timing: { totalTimeoutMs, pollEveryMs: 50, graceMs: 100 },
});
after(async () => {
  await sender[Symbol.asyncDispose]();
  await egress[Symbol.asyncDispose]();
});

/** The state of a delivery to the URL after its first attempt, and how long that took. */
async function deliverTo(url: string): Promise<DeliveryRow & { tookMs: number }> {
  const { webhookId } = await inTransaction(db, (tx) =>
    createWebhook(tx, vault, organizationId, { url, events: ['content.ready'], description: null }),
  );
  const startedAt = performance.now();
  await cause(db, organizationId, url);
  const row = await eventually('the attempt', async () => {
    const page = { status: null, limit: 1, after: null };
    const [found] = await listDeliveries(db, organizationId, webhookId, page);
    return found !== undefined && found.attempts > 0 ? found : null;
  });
  const tookMs = performance.now() - startedAt;
  await db.deleteFrom('webhook').execute();
  return { ...row, tookMs };
}

async function deliverWith(answer: Answer) {
  const receiver = await startReceiver(() => answer);
  const row = await deliverTo(receiver.url);
  return { ...row, requests: receiver.requests.length, receiver };
}

function failsWith(row: DeliveryRow, error: string, statusCode: number | null = null): void {
  assert.deepEqual([row.status, row.lastError, row.statusCode], ['pending', error, statusCode]);
}

describe('a receiver that answers', () => {
  const statuses = [
    ...[200, 201, 202, 204, 205, 206, 226, 299],
    ...[300, 304, 400, 401, 403, 404, 405, 408, 409, 410, 418, 425, 429, 451],
    ...[500, 501, 502, 503, 504],
  ];
  for (const status of statuses) {
    const isSuccess = status <= 299;
    test(`${status} is ${isSuccess ? 'a success' : 'a failure'}`, async () => {
      const row = await deliverWith(status);
      if (isSuccess) assert.deepEqual([row.status, row.statusCode], ['success', status]);
      else failsWith(row, `http_${status}`, status);
      assert.equal(row.requests, 1);
    });
  }

  test('an informational answer before the real one changes nothing', async () => {
    const row = await deliverWith((_request, response) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' });
      response.writeHead(200).end('fine');
    });
    assert.deepEqual([row.status, row.statusCode], ['success', 200]);
  });

  for (const status of [301, 302, 303, 307, 308]) {
    test(`${status} is a failure, and nobody goes where it points`, async () => {
      const target = await startReceiver();
      const row = await deliverWith((_request, response) => {
        response.writeHead(status, { location: target.url }).end();
      });
      failsWith(row, `http_${status}`, status);
      assert.equal(target.connects(), 0);
    });
  }

  test('the first 4 KiB of what it says to a failure are kept, whatever the bytes are', async () => {
    const row = await deliverWith((_request, response) => {
      response
        .writeHead(500)
        .end(Buffer.concat([Buffer.from('a\0é\xff'), Buffer.alloc(9_000, 'x')]));
    });
    assert.equal(Buffer.byteLength(row.response ?? '') >= 4_096, true);
    assert.ok((row.response ?? '').length <= 4_096);
    assert.match(row.response ?? '', /^a\uFFFDé/);
  });
});

describe('a receiver that floods', () => {
  async function memoryGrowth(work: () => Promise<unknown>): Promise<number> {
    const before = process.memoryUsage().rss;
    await work();
    return process.memoryUsage().rss - before;
  }

  test('with an endless body: 64 KiB are read, and the delivery is a success', async () => {
    let sentBytes = 0;
    const grown = await memoryGrowth(async () => {
      const row = await deliverWith((_request, response) => {
        response.writeHead(200);
        const chunk = Buffer.alloc(65_536, 'x');
        const pump = () => {
          if (response.destroyed || sentBytes > 1e9) return;
          sentBytes += chunk.length;
          response.write(chunk, (error) => (error ? undefined : setImmediate(pump)));
        };
        pump();
      });
      assert.deepEqual([row.status, row.statusCode], ['success', 200]);
    });
    assert.ok(sentBytes < 16e6, `${sentBytes} bytes were taken`);
    assert.ok(grown < 60e6, `grew by ${grown} bytes`);
  });

  test('with a gzip bomb: it stays packed', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const grown = await memoryGrowth(async () => {
      const row = await deliverWith((_request, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
      });
      assert.equal(row.status, 'success');
    });
    assert.ok(grown < 40e6, `grew by ${grown} bytes`);
  });

  test('with endless headers: a failure', async () => {
    const row = await deliverWith((request) => {
      request.socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(200_000)}\r\n\r\n`);
    });
    failsWith(row, 'protocol_error');
  });
});

describe('a receiver that dawdles', () => {
  test('dripping a byte at a time: ended at the total deadline, a failure', async () => {
    const row = await deliverWith((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 100);
      response.on('close', () => clearInterval(timer));
    });
    failsWith(row, 'timeout');
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
    for (const answer of [
      (request: { socket: Socket }) => request.socket.destroy(),
      (request: { socket: Socket }) => request.socket.end('HTTP/1.1 200 OK\r\nx-half: '),
      (request: { socket: Socket }) =>
        request.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'),
    ]) {
      const row = await deliverWith((request) => void answer(request));
      failsWith(row, 'connection_error');
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

  test('speaking something else than HTTP', async () => {
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

describe('a certificate that is not good', () => {
  for (const [what, certificate] of [
    ['self-signed', createTestCertificate(['127.0.0.1'])],
    ['expired', authority.issue(['127.0.0.1'], { expired: true })],
    ['for another name', authority.issue(['other.example'])],
    ['of an unknown authority', createTestAuthority().issue(['127.0.0.1'])],
  ] as const) {
    test(`${what}: the receiver gets no byte of the request`, async () => {
      const receiver = await startReceiver(() => 204, certificate);
      failsWith(await deliverTo(receiver.url), 'tls_error');
      assert.equal(receiver.requests.length, 0);
    });
  }
});

test('connections are kept: thirty deliveries need few of them', async () => {
  const receiver = await startReceiver();
  await inTransaction(db, (tx) =>
    createWebhook(tx, vault, organizationId, {
      url: receiver.url,
      events: ['content.ready'],
      description: null,
    }),
  );
  for (let n = 0; n < 30; n += 1) {
    await cause(db, organizationId, String(n));
    await eventually('the delivery', async () => (receiver.requests.length > n ? true : null));
  }
  assert.ok(receiver.connects() <= 3, `${receiver.connects()} connections`);
  await db.deleteFrom('webhook').execute();
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
