/**
 * Proves that encoders can publish over TLS, and that unauthenticated connections do not block
 * them.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { connect as connectByTls } from 'node:tls';
import { Demuxer, Muxer } from 'node-av';
import { generateClip } from '../src/features/media/media.ts';
import { RtmpPublisher } from '../src/features/live/live.ts';
import { createStream, freePort, liveClip, sendSeconds, type Stream } from './live-publisher.ts';
import { receiverCertificate } from './receiver.ts';
import { startService, temporaryFolder } from './service.ts';
import { until } from './waiting.ts';

const folder = await temporaryFolder();
const files = { REELFEED_TLS_CERT: `${folder}/cert.pem`, REELFEED_TLS_KEY: `${folder}/key.pem` };
await writeFile(files.REELFEED_TLS_CERT, receiverCertificate.cert);
await writeFile(files.REELFEED_TLS_KEY, receiverCertificate.key);
const port = await freePort();
const service = await startService({ ...files, REELFEED_RTMPS_PORT: String(port) });
const url = `rtmps://localhost:${port}/live`;

const read = async ({ id }: Stream) =>
  (await service.call('GET', `/v1/live-streams/${id}`)).body.data as {
    status: string;
    rtmpUrl: string | null;
    rtmpsUrl: string | null;
    recordedSeconds: number;
  };

test('FFmpeg publishes by RTMPS at the address of the stream', async () => {
  const stream = await createStream(service, { reconnectWindow: 600 });
  const { rtmpUrl, rtmpsUrl } = await read(stream);
  assert.deepEqual([rtmpUrl, rtmpsUrl], [null, url]);
  const clip = path.join(folder, 'clip.flv');
  const picture = { source: 'testsrc2', width: 180, height: 320, frameRate: 15 } as const;
  await generateClip(
    { ...picture, path: clip, seconds: 4, tone: 440 },
    AbortSignal.timeout(60_000),
  );
  await using input = await Demuxer.open(clip);
  await using output = await Muxer.open(`${url}/${stream.streamKey}`, { format: 'flv', input });
  const tracks = new Map(input.streams.map((track) => [track.index, output.addStream(track)]));
  for await (using packet of input.packets()) {
    const track = packet === null ? undefined : tracks.get(packet.streamIndex);
    if (track !== undefined) await output.writePacket(packet, track);
  }
  await until(
    'the recording',
    () => read(stream),
    (now) => now.recordedSeconds > 2,
  );
  assert.equal((await read(stream)).status, 'active');
});

test('a wrong key is rejected, and the right one is accepted', async () => {
  const stream = await createStream(service, { reconnectWindow: 600 });
  const wrong = stream.streamKey.replace(/.{8}$/, 'AAAAAAAA');
  await assert.rejects(RtmpPublisher.open(url, wrong), /No stream has this key/);
  const publisher = await RtmpPublisher.open(url, stream.streamKey);
  await sendSeconds(publisher, await liveClip(), { fromMs: 0, seconds: 3 });
  await until(
    'it to be active',
    () => read(stream),
    ({ status }) => status === 'active',
  );
  await publisher.end();
});

test('plain RTMP on the RTMPS port closes the connection', async () => {
  const { streamKey } = await createStream(service);
  await assert.rejects(RtmpPublisher.open(`rtmp://127.0.0.1:${port}/live`, streamKey));
});

/** Exceeds the number of unauthenticated connections that the service keeps. */
const crowd = 1_200;
/** Two seconds on a quiet machine; longer when other tests run. */
const enterWithinMs = 6_000;

/**
 * Opens the connections a few at a time. Beyond the length of its queues, the kernel answers with
 * SYN cookies and may forget connections that the client takes for open.
 */
async function openStrangers(
  t: TestContext,
  open: () => Socket,
): Promise<{ readonly closed: number }> {
  const sockets: Socket[] = [];
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  while (sockets.length < crowd) {
    const some = Array.from({ length: 100 }, open);
    for (const socket of some) socket.on('error', () => undefined).resume();
    sockets.push(...some);
    // oxlint-disable-next-line no-await-in-loop -- the kernel's queues are limited
    await Promise.all(some.map((socket) => once(socket, 'connect')));
  }
  return {
    get closed() {
      return sockets.filter((socket) => socket.closed).length;
    },
  };
}

const strangers: Record<string, () => Socket> = {
  'silent connections': () => connect(port, '127.0.0.1'),
  'handshakes that stop half-way': () => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => socket.write(Buffer.from([0x16, 3, 1, 2, 0, 1])));
    return socket;
  },
};

for (const [name, open] of Object.entries(strangers)) {
  test(`${name} are limited in number and do not block publishers`, async (t) => {
    const { streamKey } = await createStream(service, { reconnectWindow: 600 });
    const crowding = await openStrangers(t, open);
    await until(
      'the bound',
      () => crowding.closed,
      (closed) => closed >= crowd - 1_000,
    );
    const startedAt = performance.now();
    const publisher = await RtmpPublisher.open(url, streamKey);
    const tookMs = performance.now() - startedAt;
    t.diagnostic(`a publisher entered after ${Math.round(tookMs)} ms`);
    assert.ok(tookMs < enterWithinMs, `${tookMs}`);
    await until(
      'all others to be closed in time',
      () => crowding.closed,
      (n) => n === crowd,
    );
    assert.ok(publisher.isOpen);
    publisher[Symbol.dispose]();
  });
}

test('a TLS client that sends nothing else is disconnected when its time for the key is over', async () => {
  const socket = connectByTls({ port, host: 'localhost' });
  await once(socket, 'secureConnect');
  await once(socket.resume(), 'close');
});
