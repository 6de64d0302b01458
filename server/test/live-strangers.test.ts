/**
 * Proves that unauthenticated connections do not block publishers, and that takeovers work across
 * processes.
 */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { RtmpPublisher } from '../src/features/live/live.ts';
import { createStream, freePort, publish, type Stream } from './live-publisher.ts';
import { eventually, startService } from './service.ts';
import { pause } from './waiting.ts';

const [port, otherPort] = [await freePort(), await freePort()];
const service = await startService({ REELFEED_RTMP_PORT: String(port) });
const streams: Stream[] = [];
for (let made = 0; made < 20; made += 1) {
  streams.push(await createStream(service, { reconnectWindow: 600 }));
}

/** Exceeds the number of unauthenticated connections that the service keeps. */
const crowd = 1_200;
/** Two seconds on a quiet machine; longer when other tests run. */
const enterWithinMs = 6_000;

/** Publishers connect one after another and stay; returns the longest time to connect. */
async function slowestEntry(t: TestContext): Promise<number> {
  let slowest = 0;
  const publishers: RtmpPublisher[] = [];
  t.after(() => {
    for (const publisher of publishers) publisher[Symbol.dispose]();
  });
  for (const { streamKey } of streams) {
    const startedAt = performance.now();
    publishers.push(await RtmpPublisher.open(`rtmp://127.0.0.1:${port}/live`, streamKey));
    slowest = Math.max(slowest, performance.now() - startedAt);
  }
  assert.ok(
    publishers.every(({ isOpen }) => isOpen),
    'nobody who publishes is closed for a newcomer',
  );
  return slowest;
}

/** Keeps this many connections open, from many addresses if `spread` is set. */
function openStrangers(
  t: TestContext,
  count: number,
  { spread = false, onOpen = (_socket: Socket) => undefined }: StrangerOptions = {},
): void {
  const sockets = new Set<Socket>();
  let isOver = false;
  const open = (index: number) => {
    if (isOver) return;
    const localAddress = spread ? `127.0.${1 + (index % 200)}.${1 + (index % 250)}` : '127.0.0.1';
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('connect', () => onOpen(socket));
    socket.resume();
    socket.once('close', () => {
      sockets.delete(socket);
      void pause(200 + (index % 800), 'a stranger who was thrown out comes back').then(() =>
        open(index),
      );
    });
  };
  for (let index = 0; index < count; index += 1) open(index);
  t.after(() => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
  });
}

type StrangerOptions = { spread?: boolean; onOpen?: (socket: Socket) => void };

/** Sends a handshake byte by byte. */
function drip(socket: Socket): void {
  socket.write(Buffer.of(3));
  const timer = setInterval(() => socket.write(Buffer.of(0)), 1_000);
  socket.once('close', () => clearInterval(timer));
}

for (const spread of [false, true]) {
  const from = spread ? 'many addresses' : 'one address';

  test(`silent connections from ${from} do not block publishers`, async (t) => {
    openStrangers(t, crowd, { spread });
    const slowest = await slowestEntry(t);
    assert.ok(slowest < enterWithinMs, `${slowest}`);
  });

  test(`slow handshakes from ${from} do not block publishers`, async (t) => {
    openStrangers(t, crowd, { spread, onOpen: drip });
    const slowest = await slowestEntry(t);
    assert.ok(slowest < enterWithinMs, `${slowest}`);
  });
}

test('a thousand wrong keys do not block a right key from the same address', async (t) => {
  let refused = 0;
  const wrong = streams[0]?.streamKey.replace(/.{8}$/, 'AAAAAAAA') ?? '';
  const guesses = Array.from({ length: 1_000 }, async () => {
    await assert.rejects(RtmpPublisher.open(`rtmp://127.0.0.1:${port}/live`, wrong));
    refused += 1;
  });
  await eventually('the first refusals', async () => (refused > 20 ? true : null));
  const slowest = await slowestEntry(t);
  assert.ok(slowest < enterWithinMs, `${slowest}`);
  assert.ok(refused < 1_000, 'the guesses are slowed down');
  await Promise.all(guesses);
});

test('a newcomer takes over a stream published through another process', async () => {
  const beside = await startService({ REELFEED_RTMP_PORT: String(otherPort) }, { beside: service });
  const stream = await createStream(service, { reconnectWindow: 60 });
  const read = async () =>
    (await beside.call('GET', `/v1/live-streams/${stream.id}`)).body.data as {
      status: string;
      isConnected: boolean;
      recordedSeconds: number;
    };
  const first = await publish(port, stream.streamKey);
  await eventually('a segment', async () => ((await read()).recordedSeconds > 0 ? true : null));
  const takenAt = performance.now();
  const second = await publish(otherPort, stream.streamKey);
  assert.ok(performance.now() - takenAt < enterWithinMs);
  await first.publisher.closed;
  const taken = await read();
  assert.deepEqual([taken.status, taken.isConnected], ['active', true]);
  await eventually('the newcomer’s segments', async () =>
    (await read()).recordedSeconds > taken.recordedSeconds ? true : null,
  );
  assert.equal(second.publisher.isOpen, true);
  await service.call('POST', `/v1/live-streams/${stream.id}/end`);
  const item = await eventually('the recording', async () => {
    const { body } = await beside.call('GET', `/v1/content/${stream.contentId}`);
    return body.data.uploadStatus === 'ready' && body.data.duration !== null ? body.data : null;
  });
  // The publishing process counts its last segment after the call that ends the stream has
  // returned.
  const { recordedSeconds } = await read();
  assert.ok(Math.abs(item.duration - recordedSeconds) < 0.5, `${item.duration} ${recordedSeconds}`);
});
