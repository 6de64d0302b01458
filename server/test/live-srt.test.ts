/** Broadcasts by SRT: FFmpeg with libsrt publishes, over lines that lose packets and come back. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { PlaylistFollower } from '../src/features/live/ingest/hls-rules.fixture.ts';
import { createStream, freePort, type Stream } from './live-publisher.ts';
import { lossyLine, publishBySrt, transportClip } from './live-srt-publisher.ts';
import { eventually, local, mediaPatienceMs, startService } from './service.ts';

const port = await freePort();
const service = await startService({ REELFEED_SRT_PORT: String(port) });

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

for (const codec of ['h264', 'hevc'] as const) {
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
