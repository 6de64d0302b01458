/** Proves that a target that accepts nothing or disconnects delays no other, and is retried. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { test } from 'node:test';
import { until } from '../../../../test/waiting.ts';
import { messageType, type RtmpMessage } from '../rtmp/messages.ts';
import { RtmpConnection, type RtmpPublication } from '../rtmp/rtmp-connection.ts';
import { RtmpPublisher } from '../rtmp/rtmp-publisher.ts';
import { Relay, type RelayStatus, type StreamHeaders } from './relay.ts';

const timings = { hangMs: 600, pauseMs: 50 };
const limits = { publishWithinMs: 10_000, silenceMs: 60_000 };
const message = (type: number, timestamp: number, first: number, bytes: number): RtmpMessage => ({
  type,
  timestamp,
  streamId: 1,
  payload: Buffer.alloc(bytes, first),
});
const headers: StreamHeaders = {
  metadata: null,
  video: message(messageType.video, 0, 1, 50),
  audio: null,
};

/** A test server whose handling of media is defined by `publication`. */
async function startTarget(publication: (key: string) => RtmpPublication): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    const publish = async (key: string) => publication(key);
    new RtmpConnection(socket, { publish, closed: async () => undefined }, limits).run();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const openAt = (server: Server) => () =>
  RtmpPublisher.open(`rtmp://127.0.0.1:${(server.address() as AddressInfo).port}/app`, 'a-key');

/** Records the states of a relay. */
function statesOf() {
  const seen: RelayStatus[] = [];
  let wake = (): void => undefined;
  const onStatus = (status: RelayStatus): void => {
    seen.push(status);
    wake();
  };
  const reached = async (status: string, count = 1): Promise<RelayStatus> => {
    for (;;) {
      const found = seen.filter((one) => one.status === status)[count - 1];
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  return { onStatus, reached, seen };
}

test('a server gets the headers and all from a key frame on, with times from 0', async () => {
  const taken: RtmpMessage[] = [];
  const server = await startTarget(() => ({
    media: (one) => void taken.push(one),
    metadata: () => undefined,
  }));
  const { onStatus, reached } = statesOf();
  const relay = new Relay({ headers, open: openAt(server), onStatus, timings });
  let at = 50_000;
  const feed = setInterval(() => {
    at += 40;
    const isKeyFrame = at % 400 === 0;
    relay.take(message(messageType.video, at, isKeyFrame ? 2 : 3, 100), { isKeyFrame });
  }, 5);
  await reached('sending');
  await until(
    'thirty messages',
    async () => taken.length,
    (count) => count >= 30,
  );
  clearInterval(feed);
  await relay[Symbol.asyncDispose]();
  server.close();
  assert.deepEqual(
    taken.slice(0, 3).map(({ payload }) => payload[0]),
    [1, 2, 3],
  );
  assert.deepEqual(
    taken.slice(0, 4).map(({ timestamp }) => timestamp),
    [0, taken[1]?.timestamp, (taken[1]?.timestamp ?? 0) + 40, (taken[1]?.timestamp ?? 0) + 80],
  );
  assert.ok((taken[1]?.timestamp ?? 1_000) <= 33);
});

test('a server that accepts nothing costs a few megabytes, then fails, and is retried', async () => {
  let publishers = 0;
  const server = await startTarget(() => {
    publishers += 1;
    return { media: () => new Promise(() => undefined), metadata: () => undefined };
  });
  const opened: RtmpPublisher[] = [];
  const open = async () => {
    const publisher = await openAt(server)();
    opened.push(publisher);
    return publisher;
  };
  const { onStatus, reached } = statesOf();
  const relay = new Relay({ headers, open, onStatus, timings });
  let at = 0;
  let longestMs = 0;
  let mostBytes = 0;
  const feed = setInterval(() => {
    const begun = performance.now();
    for (let count = 0; count < 10; count += 1) {
      at += 10;
      relay.take(message(messageType.video, at, 2, 64 * 1024), { isKeyFrame: at % 100 === 0 });
    }
    longestMs = Math.max(longestMs, performance.now() - begun);
    mostBytes = Math.max(mostBytes, ...opened.map(({ waitingBytes }) => waitingBytes));
  }, 5);
  const { message: sentence } = await reached('failed');
  await reached('sending', 2);
  clearInterval(feed);
  await relay[Symbol.asyncDispose]();
  server.close();
  assert.equal(sentence, 'The server stopped accepting data.');
  assert.ok(publishers >= 2);
  assert.ok(mostBytes < 5 * 1024 * 1024, `${mostBytes} bytes waited`);
  assert.ok(longestMs < 500, `taking ten messages took ${longestMs} ms`);
});

test('the reason of a rejecting server is reported', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    const publish = async () => 'unknown' as const;
    new RtmpConnection(socket, { publish, closed: async () => undefined }, limits).run();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { onStatus, reached } = statesOf();
  const relay = new Relay({ headers, open: openAt(server), onStatus, timings });
  assert.equal((await reached('failed', 2)).message, 'No stream has this key.');
  await relay[Symbol.asyncDispose]();
  server.close();
});
