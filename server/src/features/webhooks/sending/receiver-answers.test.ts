import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { startReceiver } from '../../../../test/receiver.ts';
import { eventually } from '../../../../test/service.ts';
import { failsWith, startSending } from '../../../../test/webhooks/receivers.ts';
import { cause } from '../../../../test/webhooks/webhooks.ts';

const { db, organizationId, createOrganization, register, deliverWith } = await startSending({
  connectTimeoutMs: 10_000,
  totalTimeoutMs: 30_000,
});

describe('a receiver that answers', () => {
  test('with any status from 200 to 504: 2xx is a success and everything else a failure', async () => {
    const first = 200;
    const last = 504;
    const receiver = await startReceiver(({ path }) => Number(path.split('/').at(-1)));
    const statusOf = new Map<string, number>();
    let owner = organizationId;
    for (let status = first; status <= last; status += 1) {
      // An organization can have at most fifty webhooks.
      if (status % 50 === 0) owner = await createOrganization();
      statusOf.set(await register(`${receiver.url}/${status}`, owner), status);
      if (status % 50 === 49 || status === last) await cause(db, owner, 'any status');
    }
    const rows = await eventually('all attempts', async () => {
      const { rows: made } = await sql<{ id: string; state: string; code: number; error: string }>`
        select webhook_id as id, 'pending' as state, status_code as code, last_error as error
        from webhook_delivery where attempts = 1
        union all select webhook_id, status, status_code, last_error
        from webhook_delivery_log`.execute(db);
      const ofThese = made.filter(({ id }) => statusOf.has(id));
      return ofThese.length === statusOf.size ? ofThese : null;
    });
    for (const { id, state, code, error } of rows) {
      const status = statusOf.get(id);
      const isSuccess = status !== undefined && status <= 299;
      const expected = isSuccess
        ? ['success', status, null]
        : [status === 410 ? 'failed' : 'pending', status, `http_${status}`];
      assert.deepEqual([state, code, error], expected);
    }
    assert.equal(receiver.requests.length, statusOf.size);
    await db.deleteFrom('webhook').execute();
  });

  test('an informational response before the real one changes nothing', async () => {
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

  test('the first 4 KiB of a failed response are kept, whatever the bytes are', async () => {
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

test('connections are kept: thirty deliveries need few of them', async () => {
  const receiver = await startReceiver();
  await register(receiver.url);
  for (let n = 0; n < 30; n += 1) {
    await cause(db, organizationId, String(n));
    await eventually('the delivery', async () => (receiver.requests.length > n ? true : null));
  }
  assert.ok(receiver.connects() <= 3, `${receiver.connects()} connections`);
  await db.deleteFrom('webhook').execute();
});
