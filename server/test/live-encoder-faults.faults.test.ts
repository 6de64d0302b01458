/**
 * A minute of encoder and machine faults, with rungs: 60 fps with B-frames, portrait, another size,
 * a clock that jumps by two hours in both directions, a connection lost for five seconds, and a
 * killed service. It must result in one item with one recording of the length that was sent.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateKey } from '../src/features/keys/key-format.ts';
import { RtmpPublisher, splitClip, type FlvTag } from '../src/features/live/live.ts';
import { cloneDatabase } from './database.ts';
import { createStream, freePort, liveClip } from './live-publisher.ts';
import { startProcess } from './processes.ts';
import { eventually, send, temporaryFolder, type Call } from './service.ts';
import { pause } from './waiting.ts';

const portrait = { width: 540, height: 960 };
const square = { width: 480, height: 480 };
const encoding = { frameRate: 60, bFrames: 2 };
const twoHoursMs = 7_200_000;
const lineAwayMs = 5_000;

/** Sends seconds of a clip in real time. */
async function sendLive(
  publisher: RtmpPublisher,
  clip: readonly FlvTag[],
  { fromMs, seconds }: { fromMs: number; seconds: number },
): Promise<void> {
  const { headers, media } = splitClip(clip);
  for (const { type, payload } of headers) await publisher.send(type, fromMs >>> 0, payload);
  const startedAt = performance.now();
  for (let second = 0; second < seconds; second += 1) {
    for (const { type, payload, timestampMs } of media) {
      const atMs = second * 1_000 + timestampMs;
      const aheadMs = atMs - (performance.now() - startedAt);
      if (aheadMs > 20) await pause(aheadMs, 'encoders send at the pace of time');
      await publisher.send(type, (fromMs + atMs) >>> 0, payload);
    }
  }
}

test('a minute of faults gives one item with one recording', async (t) => {
  const connection = await cloneDatabase();
  const dataDir = await temporaryFolder();
  const port = await freePort();
  const secretKey = generateKey('secret');
  const env = {
    REELFEED_RTMP_PORT: String(port),
    REELFEED_SECRET_KEY: secretKey,
    REELFEED_LIVE_RENDITIONS: '240',
  };
  let running = await startProcess(connection, dataDir, env);
  const service = {
    call: (method: string, path: string, call: Call = {}) =>
      send(`${running.url}${path}`, method, { key: secretKey, ...call }),
  };
  const stream = await createStream(service, { reconnectWindow: 600 });
  const read = async () => (await service.call('GET', `/v1/live-streams/${stream.id}`)).body.data;
  const item = async () => (await service.call('GET', `/v1/content/${stream.contentId}`)).body.data;
  const open = () => RtmpPublisher.open(`rtmp://127.0.0.1:${port}/live`, stream.streamKey);
  const recordedAtLeast = (seconds: number) =>
    eventually(`${seconds} seconds`, async () =>
      (await read()).recordedSeconds >= seconds ? true : null,
    );

  const tall = await liveClip(portrait, 'h264', encoding);
  let publisher = await open();
  await sendLive(publisher, tall, { fromMs: twoHoursMs, seconds: 12 });
  await sendLive(publisher, tall, { fromMs: 2 * twoHoursMs + 12_000, seconds: 10 });
  await sendLive(publisher, tall, { fromMs: twoHoursMs + 22_000, seconds: 10 });
  await recordedAtLeast(29.9);
  await pause(1_500, 'what was sent arrives, so that the cut alone can lose it');
  publisher[Symbol.dispose]();
  await pause(lineAwayMs, 'the line is away');
  publisher = await open();
  await sendLive(publisher, await liveClip(square, 'h264', encoding), { fromMs: 0, seconds: 14 });
  await recordedAtLeast(43.5);
  await running.kill();
  await publisher.closed;
  running = await startProcess(connection, dataDir, env);
  publisher = await eventually('the port', () => open().catch(() => null));
  await sendLive(publisher, tall, { fromMs: 900_000, seconds: 14 });
  await publisher.end();
  const { recordedSeconds } = await eventually('the publisher to have left', async () => {
    const found = await read();
    return found.isConnected ? null : found;
  });
  t.diagnostic(`${recordedSeconds} s of 60 s`);
  // The kill loses what was not yet a segment: two seconds.
  assert.ok(Math.abs(recordedSeconds - 60) <= 2.5, `${recordedSeconds} s`);
  await service.call('POST', `/v1/live-streams/${stream.id}/end`);

  const { streamingUrl } = await item();
  const address = new URL(streamingUrl);
  const text = async (name: string) => {
    const url = `${running.url}${address.pathname.replace('master.m3u8', name)}`;
    const answer = await fetch(url);
    return answer.status === 200 ? answer.text() : null;
  };
  const whole = await eventually('the whole broadcast', () => text('whole.m3u8'));
  const count = (playlist: string, tag: string) => playlist.split(`#${tag}`).length - 1;
  const rung = await eventually('the end of the rung', async () => {
    const found = await text('rung-240.m3u8');
    return found?.includes('#EXT-X-ENDLIST') === true ? found : null;
  });
  const gaps = count(rung, 'EXT-X-GAP');
  t.diagnostic(`${gaps} gaps in the last segments of the rung`);
  assert.equal(count(whole, 'EXT-X-DISCONTINUITY\n'), 4);
  const recorded = await eventually(
    'the recording',
    async () => {
      const found = await item();
      assert.notEqual(found.uploadStatus, 'error', JSON.stringify(found.errorReason));
      return found.uploadStatus === 'ready' && found.duration !== null ? found : null;
    },
    300_000,
  );
  const drift = Math.abs(recorded.duration - recordedSeconds);
  assert.ok(drift <= 2, `${recorded.duration} s of ${recordedSeconds} s`);
  const all = await service.call('GET', '/v1/content');
  assert.equal(all.body.data.length, 1);
});
