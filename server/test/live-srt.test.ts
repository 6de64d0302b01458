/** Publishes over SRT with FFmpeg and libsrt, including over lossy and interrupted connections. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { test } from 'node:test';
import { PlaylistFollower } from './live/hls-rules.ts';
import { createStream, freePort, type Stream } from './live-publisher.ts';
import { lossyLine, publishBySrt } from './live-srt-publisher.ts';
import { local } from './media.ts';
import { signalMediaChildren } from './media-children.ts';
import { runCommand } from './processes.ts';
import { scaled } from './scale.ts';
import { eventually, startService } from './service.ts';

const mediaPatienceMs = 180_000;

const port = await freePort();
const service = await startService({
  REELFEED_SRT_PORT: String(port),
  REELFEED_LIVE_RENDITIONS: 'off',
});

const read = async ({ id }: Stream) =>
  (await service.call('GET', `/v1/live-streams/${id}`)).body.data;

async function streamingUrl({ contentId }: Stream): Promise<string> {
  const { body } = await service.call('GET', `/v1/content/${contentId}`);
  return local(service, body.data.streamingUrl);
}

const text = async (url: string) => (await fetch(url)).text();

function recorded({ contentId }: Stream) {
  return eventually(
    'the recording',
    async () => {
      const { body } = await service.call('GET', `/v1/content/${contentId}`);
      return body.data.uploadStatus === 'ready' && body.data.duration !== null ? body.data : null;
    },
    mediaPatienceMs,
  );
}

const hasSeconds = (stream: Stream, seconds: number) =>
  eventually(
    `${seconds} seconds`,
    async () => {
      const found = await read(stream);
      return found.recordedSeconds >= seconds ? found : null;
    },
    mediaPatienceMs,
  );

for (const codec of scaled(['h264'] as const, ['h264', 'hevc'] as const)) {
  test(`ten seconds of ${codec} by SRT play and are recorded`, async () => {
    const stream = await createStream(service, { reconnectWindow: 0 });
    const { srtUrl, rtmpUrl } = await read(stream);
    assert.deepEqual([srtUrl, rtmpUrl], [`srt://localhost:${port}`, null]);
    const encoder = await publishBySrt(port, stream.streamKey, { codec, seconds: 10 });
    await hasSeconds(stream, 4);
    const master = await text(await streamingUrl(stream));
    assert.match(master, codec === 'h264' ? /CODECS="avc1[^"]*,mp4a/ : /CODECS="hvc1[^"]*,mp4a/);
    assert.match(master, /RESOLUTION=180x320/);
    const follower = new PlaylistFollower();
    follower.take(await text(new URL('index.m3u8', await streamingUrl(stream)).href));
    assert.ok(follower.segments.length > 0);
    assert.equal(await encoder.exit, 0);
    const { duration } = await recorded(stream);
    assert.ok(Math.abs(duration - 10) < 2, `${duration} s are recorded`);
  });
}

test('a wrong key is rejected in both forms of the stream id, and so are players', async () => {
  const stream = await createStream(service, { reconnectWindow: 0 });
  const key = stream.streamKey;
  const wrong = `${key.slice(0, -4)}AAAA`;
  const refused = [wrong, `#!::r=${wrong},m=publish`, `#!::r=${key},m=request`, ''];
  const encoders = await Promise.all(
    refused.map((streamId) => publishBySrt(port, streamId, { seconds: 10 })),
  );
  for (const encoder of encoders) assert.equal(await encoder.exit, 2);
  assert.equal((await read(stream)).status, 'idle');
});

test('lost datagrams are resent, a lost encoder reconnects, and a deletion disconnects the encoder', async () => {
  const stream = await createStream(service, { reconnectWindow: 600 });
  const line = await lossyLine(port);
  line.isLost = (count) => count % 20 === 0;
  const streamId = `#!::r=${stream.streamKey},m=publish`;
  const first = await publishBySrt(line.port, streamId, { seconds: 10 });
  assert.equal(await first.exit, 0);
  const { recordedSeconds, health } = await eventually('its end', async () => {
    const found = await read(stream);
    return found.isConnected ? null : found;
  });
  assert.equal(health, null);
  assert.ok(Math.abs(recordedSeconds - 10) < 2, `${recordedSeconds} s of 10 have arrived`);

  const second = await publishBySrt(line.port, streamId, { seconds: 60 });
  await hasSeconds(stream, recordedSeconds + 2);
  // The service is not notified that this encoder is gone.
  second.process.kill('SIGKILL');
  const third = await publishBySrt(line.port, streamId, { seconds: 60 });
  await third.connected;
  const before = await read(stream);
  await hasSeconds(stream, before.recordedSeconds + 2);

  const deleted = await service.call('DELETE', `/v1/live-streams/${stream.id}`);
  assert.equal(deleted.status, 200, deleted.text);
  assert.equal(await third.exit, 3);
});

test('the death of the media process causes one reconnect', async () => {
  const stream = await createStream(service, { reconnectWindow: 600 });
  const encoder = await publishBySrt(port, stream.streamKey, { seconds: 60 });
  await hasSeconds(stream, 2);
  await signalMediaChildren('SIGKILL');
  assert.equal(await encoder.exit, 3);
  const again = await publishBySrt(port, stream.streamKey, { seconds: 60 });
  const before = await read(stream);
  await hasSeconds(stream, before.recordedSeconds + 2);
  const { disconnects, status } = await read(stream);
  assert.deepEqual([disconnects, status], [1, 'active']);
  await service.call('POST', `/v1/live-streams/${stream.id}/end`);
  assert.equal(await again.exit, 3);
});

test('random datagrams do no harm', async () => {
  const stream = await createStream(service, { reconnectWindow: 0 });
  const encoder = await publishBySrt(port, stream.streamKey, { seconds: 10 });
  const socket = createSocket('udp4');
  for (let count = 0; count < 5_000; count += 1) {
    const bytes = randomBytes(count % 200);
    if (bytes.length >= 16 && count % 3 === 0) bytes.writeUInt32BE(0, 12);
    if (bytes.length >= 2 && count % 5 === 0) bytes.writeUInt16BE(0x8000);
    await new Promise((resolve) => socket.send(bytes, port, '127.0.0.1', resolve));
  }
  socket.close();
  assert.equal(await encoder.exit, 0);
  const { duration } = await recorded(stream);
  assert.ok(Math.abs(duration - 10) < 2, `${duration} s are recorded`);
});

test('`live test --srt` publishes for the given time, and says which key is wrong', async () => {
  const env = {
    PORT: new URL(service.url).port,
    REELFEED_SECRET_KEY: service.secretKey,
    REELFEED_SRT_PORT: String(port),
  };
  const test = await runCommand(['live', 'test', '--srt', '--for', '4s', '--json'], { env });
  assert.equal(test.code, 0, test.stderr);
  assert.match(test.stdout, new RegExp(`"srtUrl": "srt://localhost:${port}"`));
  const id = /"id": "(lst_\w+)"/.exec(test.stdout)?.[1];
  const { body } = await service.call('GET', `/v1/live-streams/${id}`);
  const { status, recordedSeconds } = body.data;
  assert.equal(status, 'ended');
  assert.ok(Math.abs(recordedSeconds - 4) <= 2, `${recordedSeconds} s`);

  const refused = await runCommand(['live', 'test', 'wrong', '--srt', '--for', '1s'], { env });
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /Cannot reach .*, or the stream key is wrong/);
});
