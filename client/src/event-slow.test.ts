/** Proves that events get through a slow connection, and that temporary rejections are retried. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { test } from 'node:test';
import { atEnd } from '../../server/test/database.ts';
import { startEventService } from './event-service.fixture.ts';
import { startRelay } from './relay.fixture.ts';
import { pause } from '../../server/test/waiting.ts';

const { service, contentId, storedIds, startSender, like } = await startEventService();

/** A connection to the service with a limited upload rate in bytes per second. */
async function startSlowLink(bytesPerSecond: number): Promise<string> {
  const { hostname, port } = new URL(service.url);
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: false }, (client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
      });
    }
    upstream.pipe(client);
    void carry(client, upstream, bytesPerSecond);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function carry(from: Socket, to: Socket, bytesPerSecond: number): Promise<void> {
  const pieceBytes = bytesPerSecond / 50;
  try {
    for await (const chunk of from as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.length && !to.destroyed; at += pieceBytes) {
        to.write(chunk.subarray(at, at + pieceBytes));
        await pause(20, 'the link is slow');
      }
    }
  } catch {
    // The client has given up on this request.
  }
}

test('a batch that times out is halved until it gets through', async (context) => {
  // 32 kbit/s and the default of 10 seconds, both sped up ten times: 60 kB would need 15 seconds
  // there.
  const baseUrl = await startSlowLink(40_000);
  const { sender, refused, dropped } = startSender(context, { baseUrl, timeoutMs: 1_000 });
  const data = { note: 'x'.repeat(500) };
  const ids = Array.from({ length: 100 }, () => sender.track(like({ data })));
  await sender.flush(AbortSignal.timeout(60_000));
  assert.deepEqual((await storedIds()).toSorted(), ids.toSorted());
  assert.equal(sender.counts.received, 100);
  assert.deepEqual([refused, dropped], [[], []]);
});

test('408, 425 and 429 are retried; 408 asks for smaller requests', async (context) => {
  const statuses = [408, 425, 429];
  const relay = await startRelay(service.url, (count) => {
    const status = statuses[count - 1];
    return status === undefined ? 'pass' : (response) => void response.writeHead(status).end();
  });
  const { sender, refused } = startSender(context, { baseUrl: relay.url });
  const ids = Array.from({ length: 20 }, () => sender.track(like()));
  await sender.flush();
  assert.deepEqual((await storedIds()).toSorted(), ids.toSorted());
  assert.deepEqual(refused, []);
  const [first, second] = relay.requests.map(({ body }) => body.length);
  assert(first !== undefined && second !== undefined && second < first * 0.7);
});

test('`track` never throws: what is not JSON is reported as refused', async (context) => {
  const { sender, refused } = startSender(context);
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  const throwing = {
    get note() {
      throw new Error('no note');
    },
  };
  const json = {
    toJSON() {
      throw new RangeError('no JSON');
    },
  };
  for (const data of [cycle, { count: 10n }, throwing, json]) sender.track(like({ data }));
  // Values that TypeScript would reject.
  const track = sender.track.bind(sender) as (event: unknown) => string;
  for (const event of [undefined, null, 5, 'like', throwing]) track(event);
  const id = sender.track({ event: 'like', contentId });
  await sender.flush();
  assert.deepEqual(await storedIds(), [id]);
  assert.deepEqual(
    refused.map(({ code }) => code).toSorted(),
    [...Array<string>(5).fill('NOT_JSON'), ...Array<string>(4).fill('VALIDATION_ERROR')].toSorted(),
  );
  assert.match(refused[0]?.message ?? '', /serialized as JSON/);
});

test('every request states when it was sent, even when repeated', async (context) => {
  const relay = await startRelay(service.url, (count) => (count === 1 ? 'lose answer' : 'pass'));
  const { sender } = startSender(context, { baseUrl: relay.url });
  const startedAt = Date.now();
  sender.track(like());
  await pause(50, 'the event grows older');
  await sender.flush();
  const sentAt = relay.requests.map(({ body }) =>
    Date.parse((JSON.parse(body) as { sentAt: string }).sentAt),
  );
  assert.equal(sentAt.length, 2);
  assert((sentAt[0] ?? 0) >= startedAt);
  assert((sentAt[1] ?? 0) > (sentAt[0] ?? Infinity), 'the second is a later moment');
});
