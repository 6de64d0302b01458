/** Proves that a broadcast survives encoder faults: clock jumps, other sizes, audio only. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PlaylistFollower, readPlaylist } from './live/hls-rules.ts';
import { RtmpPublisher } from '../src/features/live/live.ts';
import { createStream, freePort, liveClip, sendSeconds, type Stream } from './live-publisher.ts';
import { local } from './media.ts';
import { query } from './seed.ts';
import { eventually, startService } from './service.ts';

const port = await freePort();
const service = await startService({
  REELFEED_RTMP_PORT: String(port),
  REELFEED_EGRESS_ALLOW: '127.0.0.1',
});
const open = ({ streamKey }: Stream) =>
  RtmpPublisher.open(`rtmp://127.0.0.1:${port}/live`, streamKey);

async function read({ id }: Stream) {
  return (await service.call('GET', `/v1/live-streams/${id}`)).body.data;
}

async function item({ contentId }: { contentId: string }) {
  return (await service.call('GET', `/v1/content/${contentId}`)).body.data;
}

/** Encoding and decoding take long when other tests run. */
const mediaPatienceMs = 180_000;

const recorded = (stream: { contentId: string }) =>
  eventually(
    'the recording',
    async () => {
      const found = await item(stream);
      assert.notEqual(found.uploadStatus, 'error', JSON.stringify(found.errorReason));
      return found.uploadStatus === 'ready' && found.duration !== null ? found : null;
    },
    mediaPatienceMs,
  );

async function text(url: string): Promise<string> {
  const answer = await fetch(local(service, url));
  assert.equal(answer.status, 200, url);
  return answer.text();
}

const streamingUrl = (stream: Stream): Promise<string> =>
  eventually('the address', async () => (await item(stream)).streamingUrl);

/** Ends a stream and validates its playlists before and after like a strict player. */
async function endStrictly(stream: Stream, follower: PlaylistFollower): Promise<number> {
  const url = await streamingUrl(stream);
  const media = new URL('index.m3u8', url).href;
  follower.take(await text(media));
  const end = await service.call('POST', `/v1/live-streams/${stream.id}/end`);
  assert.equal(end.body.data.status, 'ended');
  const whole = await eventually('the end of the playlist', async () => {
    const answer = await fetch(local(service, new URL('whole.m3u8', url).href));
    return answer.status === 200 ? answer.text() : null;
  });
  await eventually('the end for those who follow', async () =>
    follower.take(await text(media)).isEnded ? true : null,
  );
  const { segments, type } = readPlaylist(whole);
  assert.equal(type, 'VOD');
  assert.equal(segments[0]?.number, 0);
  return segments.reduce((sum, { seconds }) => sum + seconds, 0);
}

test('clock jumps add no time, the playlist stays valid, and the end loses nothing', async () => {
  const stream = await createStream(service, { reconnectWindow: 60 });
  const publisher = await open(stream);
  const clip = await liveClip();
  const follower = new PlaylistFollower();
  const twoHoursMs = 7_200_000;
  let fromMs = 5_000_000;
  for (const jumpMs of [0, twoHoursMs, -twoHoursMs, 30_000]) {
    fromMs += jumpMs;
    await sendSeconds(publisher, clip, { fromMs, seconds: 5 });
    fromMs += 5_000;
    const url = new URL('index.m3u8', await streamingUrl(stream)).href;
    follower.take(await text(url));
  }
  await eventually('all to be received', async () =>
    (await read(stream)).recordedSeconds >= 18 ? true : null,
  );
  const { warnings } = await eventually('the jumps to be told', async () => {
    const { health } = await read(stream);
    return health?.clockJumps === 3 ? health : null;
  });
  assert.ok(warnings.some(({ code }: { code: string }) => code === 'CLOCK_JUMPED'));
  const seconds = await endStrictly(stream, follower);
  await publisher.closed;
  assert.ok(Math.abs(seconds - 20) < 0.5, `${seconds} s are in the playlist`);
  const { duration } = await recorded(stream);
  assert.ok(Math.abs(duration - 20) < 1, `${duration} s are recorded`);
});

for (const [codec, name, mark] of [
  ['hevc', 'HEVC', 'hvc1.1.6.'],
  ['av1', 'AV1', 'av01.0.'],
] as const) {
  test(`${name} is passed through, and its recording plays everywhere`, async () => {
    const stream = await createStream(service, { reconnectWindow: 60 });
    const first = await open(stream);
    const sent = { fromMs: 0, seconds: 5 };
    await sendSeconds(first, await liveClip(undefined, codec), sent);
    const follower = new PlaylistFollower();
    const master = await text(await streamingUrl(stream));
    assert.match(master, new RegExp(`CODECS="${mark}[^"]*,mp4a`));
    assert.match(master, /RESOLUTION=180x320/);
    const { health } = await eventually('its health', async () => {
      const found = await read(stream);
      return found.health?.frameRate > 0 ? found : null;
    });
    assert.equal(health.keyFrameInterval, 1);
    await eventually('a thumbnail', async () => (await item(stream)).thumbnailUrl);
    await first.end();
    // The recording has a single header, so another codec can't continue it.
    const second = await open(stream);
    await sendSeconds(second, await liveClip(), sent).catch(() => undefined);
    await second.closed;
    const third = await open(stream);
    const wide = await liveClip({ width: 320, height: 180 }, codec);
    await sendSeconds(third, wide, sent);
    await third.end();
    await eventually('both parts', async () =>
      (await read(stream)).recordedSeconds >= 9.5 ? true : null,
    );
    const seconds = await endStrictly(stream, follower);
    assert.ok(Math.abs(seconds - 10) < 0.5, `${seconds} s are in the playlist`);
    const { duration, streamingUrl: url } = await recorded(stream);
    assert.ok(Math.abs(duration - 10) < 1, `${duration} s are recorded`);
    assert.match(await text(url), /CODECS="avc1/);
  });
}

test('viewers can rewind by the window of their stream', async () => {
  const listed = async (fields: object) => {
    const stream = await createStream(service, { reconnectWindow: 60, ...fields });
    assert.equal((await read(stream)).dvrWindow, 'dvrWindow' in fields ? fields.dvrWindow : 0);
    const publisher = await open(stream);
    await sendSeconds(publisher, await liveClip(), { fromMs: 0, seconds: 30 });
    await publisher.end();
    await eventually('all to be stored', async () => {
      const { recordedSeconds } = await read(stream);
      return recordedSeconds >= 29 ? true : null;
    });
    const media = new URL('index.m3u8', await streamingUrl(stream)).href;
    return readPlaylist(await text(media)).segments.map(({ number }) => number);
  };
  const [usual, short, whole] = [{}, { dvrWindow: 20 }, { dvrWindow: 43_200 }];
  assert.equal((await listed(usual)).length, 8);
  assert.equal((await listed(short)).length, 10);
  assert.equal((await listed(whole))[0], 0);
  const body = { title: 'Too long', dvrWindow: 43_201 };
  assert.equal((await service.call('POST', '/v1/live-streams', { body })).status, 400);
});

test('another size after a reconnect is a discontinuity, reported to webhooks', async () => {
  const events = ['live_stream.disconnected', 'live_stream.reconnected'];
  const body = { url: 'https://127.0.0.1:1/hook', events };
  const hook = await service.call('POST', '/v1/webhooks', { body });
  assert.equal(hook.status, 201, hook.text);
  const stream = await createStream(service, { reconnectWindow: 60 });
  const first = await open(stream);
  await sendSeconds(first, await liveClip(), { fromMs: 0, seconds: 5 });
  await first.end();
  const second = await open(stream);
  const wide = await liveClip({ width: 320, height: 180 });
  await sendSeconds(second, wide, { fromMs: 0, seconds: 5 });
  await eventually('both parts', async () =>
    (await read(stream)).recordedSeconds >= 8 ? true : null,
  );
  assert.equal((await read(stream)).disconnects, 1);
  const follower = new PlaylistFollower();
  const seconds = await endStrictly(stream, follower);
  const maps = new Set(follower.segments.map(({ map }) => map));
  assert.deepEqual([...maps], ['init.mp4', 'init-1.mp4']);
  assert.ok(Math.abs(seconds - 10) < 0.5, `${seconds} s are in the playlist`);
  const { duration } = await recorded(stream);
  assert.ok(Math.abs(duration - 10) < 1, `${duration} s are recorded`);
  const told = await query(
    service,
    `select kind from webhook_event where data::jsonb ->> 'liveStreamId' = $1
       and kind = any($2) order by occurred_at`,
    [stream.id, events],
  );
  assert.deepEqual(
    told.map(({ kind }) => kind),
    events,
  );
});

test('audio alone is a broadcast', async () => {
  const stream = await createStream(service, { reconnectWindow: 0 });
  const publisher = await open(stream);
  const sound = (await liveClip()).filter(({ type }) => type === 8);
  await sendSeconds(publisher, sound, { fromMs: 0, seconds: 10 });
  await eventually('it to be active', async () =>
    (await read(stream)).status === 'active' ? true : null,
  );
  const master = await text(await streamingUrl(stream));
  assert.match(master, /CODECS="mp4a\.40\.2"\n/);
  await publisher.end();
  const made = await recorded(stream);
  assert.equal(made.resolutionTier, 'audio-only');
  assert.ok(Math.abs(made.duration - 8.5) < 1, `${made.duration} s are recorded`);
});

test('a broadcast has a thumbnail, and lists include its state', async () => {
  const stream = await createStream(service, { reconnectWindow: 600 });
  const idle = await createStream(service);
  const hidden = await createStream(service, { visibility: 'private' });
  const publisher = await open(stream);
  await sendSeconds(publisher, await liveClip(), { fromMs: 0, seconds: 5 });
  const { thumbnailUrl } = await eventually(
    'the thumbnail',
    async () => {
      const found = await item(stream);
      return found.thumbnailUrl === null ? null : found;
    },
    mediaPatienceMs,
  );
  const picture = await fetch(local(service, thumbnailUrl));
  assert.equal(picture.headers.get('content-type'), 'image/jpeg');
  assert.equal(picture.headers.get('cache-control'), 'public, max-age=10');
  const ids = [idle.id, stream.id, hidden.id, 'lst_unknown', idle.id].join(',');
  const path = `/v1/live-streams/status?ids=${ids}`;
  const states = (await service.call('GET', path, { key: service.publishableKey })).body.data;
  assert.deepEqual(
    states.map(({ id, status, isLive }: { id: string; status: string; isLive: boolean }) => [
      id,
      status,
      isLive,
    ]),
    [
      [idle.id, 'idle', false],
      [stream.id, 'active', true],
    ],
  );
  const many = Array.from({ length: 51 }, (_, index) => `lst_${index}`).join(',');
  const refused = await service.call('GET', `/v1/live-streams/status?ids=${many}`);
  assert.equal(refused.body.error.code, 'VALIDATION_ERROR');
  await publisher.end();
});

test('clips are exact, from a running stream and from its recording, and fail individually', async () => {
  const stream = await createStream(service, { reconnectWindow: 0 });
  const publisher = await open(stream);
  await sendSeconds(publisher, await liveClip(), { fromMs: 0, seconds: 9 });
  await eventually('segments', async () =>
    (await read(stream)).recordedSeconds >= 8 ? true : null,
  );
  const path = `/v1/live-streams/${stream.id}/clips`;
  const clip = (clips: object[]) => service.call('POST', path, { body: { clips } });
  const made = await clip([
    { startSec: 1.4, endSec: 4.2, title: 'The goal', tags: ['goal'] },
    { startSec: 3, endSec: 2 },
    { startSec: 0, endSec: 60 },
    { startSec: 0, endSec: 1, colour: 'red' },
  ]);
  assert.equal(made.status, 201, made.text);
  const { results, totalCreated, totalFailed } = made.body.data;
  assert.deepEqual([totalCreated, totalFailed], [1, 3]);
  assert.deepEqual(
    results.map(({ error }: { error?: { code: string } }) => error?.code ?? null),
    [null, 'VALIDATION_ERROR', 'VALIDATION_ERROR', 'VALIDATION_ERROR'],
  );
  const goal = await recorded({ contentId: results[0].item.id });
  assert.deepEqual([goal.contentType, goal.title, goal.tags], ['video', 'The goal', ['goal']]);
  assert.ok(Math.abs(goal.duration - 2.8) < 0.15, `the clip has ${goal.duration} s`);
  await publisher.end();
  await recorded(stream);
  // Simulates the clean-up an hour later: segment files are removed, the recording stays.
  await query(service, `update live_stream set has_segments = false where live_stream_id = $1`, [
    stream.id,
  ]);
  const later = await clip([{ startSec: 5.5, endSec: 8 }]);
  const cut = await recorded({ contentId: later.body.data.results[0].item.id });
  assert.equal(cut.title, 'A broadcast (clip)');
  assert.ok(Math.abs(cut.duration - 2.5) < 0.15, `the clip has ${cut.duration} s`);
  // Recordings of earlier versions have no index.
  await query(service, `delete from live_format where live_stream_id = $1`, [stream.id]);
  await query(service, `delete from live_segment where live_stream_id = $1`, [stream.id]);
  const old = await clip([{ startSec: 2.5, endSec: 6 }]);
  const found = await recorded({ contentId: old.body.data.results[0].item.id });
  assert.ok(Math.abs(found.duration - 3.5) < 0.15, `the clip has ${found.duration} s`);
  assert.equal((await clip([])).status, 400);
  assert.equal((await clip(Array.from({ length: 21 }, () => ({})))).status, 400);
});
