/** Proves that a broadcast has aligned lower renditions and survives their loss. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { RtmpPublisher } from '../src/features/live/live.ts';
import { readMedia, type ReadTrack } from '../src/features/media/testing/media-reader.ts';
import {
  createStream,
  freePort,
  liveClip,
  publish,
  sendSeconds,
  type Stream,
} from './live-publisher.ts';
import { local } from './media.ts';
import { signalMediaChildren } from './media-children.ts';
import { scaled } from './scale.ts';
import { eventually, startService, temporaryFolder } from './service.ts';

const port = await freePort();
const service = await startService({
  REELFEED_RTMP_PORT: String(port),
  REELFEED_LIVE_RENDITIONS: '240',
});
const open = ({ streamKey }: Stream) =>
  RtmpPublisher.open(`rtmp://127.0.0.1:${port}/live`, streamKey);
const portrait = { width: 360, height: 640 };

async function read({ id }: Stream) {
  return (await service.call('GET', `/v1/live-streams/${id}`)).body.data;
}

async function text(url: string): Promise<string> {
  const answer = await fetch(local(service, url));
  assert.equal(answer.status, 200, url);
  return answer.text();
}

const masterUrl = ({ contentId }: Stream): Promise<string> =>
  eventually('the address', async () => {
    const { body } = await service.call('GET', `/v1/content/${contentId}`);
    return body.data.streamingUrl === '' ? null : body.data.streamingUrl;
  });

type Listed = { number: number; seconds: string; isCut: boolean; isGap: boolean; file: string };

function listed(playlist: string): Listed[] {
  const first = Number(/#EXT-X-MEDIA-SEQUENCE:(\d+)/.exec(playlist)?.[1]);
  const entries = playlist.matchAll(
    /(#EXT-X-DISCONTINUITY\n)?(?:#EXT-X-MAP:[^\n]+\n)?(#EXT-X-GAP\n)?#EXT-X-PROGRAM-DATE-TIME[^\n]+\n#EXTINF:([^,]+),\n([^\n]+)\n/g,
  );
  return Array.from(entries, ([, cut, gap, seconds = '', file = ''], index) => ({
    number: first + index,
    seconds,
    isCut: cut !== undefined,
    isGap: gap !== undefined,
    file,
  }));
}

const shape = (segments: readonly Listed[]) =>
  segments.map(({ number, seconds, isCut }) => ({ number, seconds, isCut }));

async function end(stream: Stream) {
  await service.call('POST', `/v1/live-streams/${stream.id}/end`);
}

/** The complete playlists of an ended broadcast: the top's and the rung's. */
async function wholes(stream: Stream, rung: string) {
  const url = await masterUrl(stream);
  const master = await eventually('the whole broadcast', async () => {
    const found = await text(url);
    return found.includes('whole.m3u8') ? found : null;
  });
  const top = listed(await text(new URL('whole.m3u8', url).href));
  const below = listed(await text(new URL(`rung-${rung}-whole.m3u8`, url).href));
  return { master, top, below, url };
}

test('a rung has the segments of the top rendition, through jumps, drops and another size', async () => {
  const stream = await createStream(service, { reconnectWindow: 60 });
  const publisher = await open(stream);
  await sendSeconds(publisher, await liveClip(portrait), { fromMs: 0, seconds: 5 });
  const url = await masterUrl(stream);
  const master = await eventually('the rung', async () => {
    const found = await text(url);
    return found.includes('rung-240.m3u8') ? found : null;
  });
  assert.match(master, /BANDWIDTH=\d+,CODECS="avc1\.64[0-9a-f]{4},mp4a\.40\.2",RESOLUTION=240x426/);
  const hourLater = { fromMs: 3_600_000, seconds: 5 };
  await sendSeconds(publisher, await liveClip(portrait), hourLater);
  const { health } = await eventually('its health', async () => {
    const found = await read(stream);
    return (found.health?.renditions.length ?? 0) > 0 ? found : null;
  });
  assert.deepEqual(health.renditions, [{ name: '240', width: 240, height: 426, state: 'live' }]);
  await publisher.end();
  const again = await open(stream);
  const square = { width: 400, height: 400 };
  await sendSeconds(again, await liveClip(square), { fromMs: 500_000, seconds: 5 });
  await eventually('all of it', async () =>
    (await read(stream)).recordedSeconds >= 13 ? true : null,
  );
  await end(stream);
  const { top, below } = await wholes(stream, '240');
  assert.deepEqual(shape(below), shape(top));
  assert.deepEqual(
    below.filter(({ isGap }) => isGap),
    [],
  );
  assert.equal(top.filter(({ isCut }) => isCut).length, 2);
});

/** Downloads a playlist's header and first segments as one file. */
async function firstSegments(playlistUrl: string, count: number) {
  const playlist = await text(playlistUrl);
  const header = /#EXT-X-MAP:URI="([^"]+)"/.exec(playlist)?.[1] ?? '';
  const names = listed(playlist).slice(0, count);
  const files = [header, ...names.map(({ file }) => file)].map(async (name) => {
    const answer = await fetch(local(service, new URL(name, playlistUrl).href));
    assert.equal(answer.status, 200, name);
    return Buffer.from(await answer.arrayBuffer());
  });
  const file = path.join(await temporaryFolder(), 'segments.mp4');
  await writeFile(file, Buffer.concat(await Promise.all(files)));
  return readMedia(file);
}

const framesOf = (tracks: readonly ReadTrack[], isVideo: boolean) =>
  tracks.find((track) => track.isVideo === isVideo)?.frames ?? [];

for (const codec of scaled(['h264'] as const, ['h264', 'hevc'] as const)) {
  test(`the rung of ${codec} shows the same frames with the same audio`, async () => {
    const stream = await createStream(service);
    const publisher = await open(stream);
    await sendSeconds(publisher, await liveClip(portrait, codec), { fromMs: 0, seconds: 7 });
    await firstOfRung(stream, 1);
    await publisher.end();
    await end(stream);
    const { master, below, url } = await wholes(stream, '240');
    assert.match(master, /avc1\.64[0-9a-f]{4},mp4a/);
    assert.equal(below.length >= 3, true);
    const top = await firstSegments(new URL('whole.m3u8', url).href, 3);
    const rung = await firstSegments(new URL('rung-240-whole.m3u8', url).href, 3);
    const pictures = framesOf(rung, true);
    const topPictures = framesOf(top, true);
    assert.deepEqual([pictures[0]?.width, pictures[0]?.height], [240, 426]);
    assert.equal(pictures.length, topPictures.length);
    for (const [index, { level, seconds }] of pictures.entries()) {
      const same = topPictures[index];
      assert.ok(Math.abs(seconds - (same?.seconds ?? 0)) < 0.002, `picture ${index} at ${seconds}`);
      assert.ok(Math.abs(level - (same?.level ?? 0)) < 6, `picture ${index} is as bright`);
    }
    assert.deepEqual(framesOf(rung, false), framesOf(top, false));
  });
}

/** The rung's live playlist. */
const rungNow = async (stream: Stream) =>
  listed(await text(new URL('rung-240.m3u8', await masterUrl(stream)).href));

const firstOfRung = (stream: Stream, after: number) =>
  eventually('segments of the rung', async () => {
    const url = new URL('rung-240.m3u8', await masterUrl(stream)).href;
    const answer = await fetch(local(service, url));
    const last = answer.status === 200 ? listed(await answer.text()).at(-1) : undefined;
    return last !== undefined && last.number > after && !last.isGap ? last : null;
  });

test('a killed process leaves at most gaps in its rung, which comes back', async () => {
  const stream = await createStream(service, { dvrWindow: 600 });
  await using publishing = await publish(port, stream.streamKey, 2, 'h264', portrait);
  const { number } = await firstOfRung(stream, 0);
  await signalMediaChildren('SIGKILL');
  const back = await firstOfRung(stream, number + 2);
  // There is no gap if the next process takes over before a segment is due.
  const numbers = (await rungNow(stream)).map((segment) => segment.number);
  const [first = 0] = numbers;
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => first + index),
  );
  const { health } = await read(stream);
  assert.equal(health.renditions[0].state, 'live');
  assert.ok(back.number > number);
  await publishing.end();
  await end(stream);
});

test('a hanging process loses its rung, and the broadcast continues', async () => {
  const stream = await createStream(service);
  await using publishing = await publish(port, stream.streamKey, 2, 'h264', portrait);
  await firstOfRung(stream, 0);
  await signalMediaChildren('SIGSTOP');
  const { health, recordedSeconds } = await eventually('the rung to be dropped', async () => {
    const found = await read(stream);
    return found.health?.renditions[0]?.state === 'dropped' ? found : null;
  });
  assert.ok(health.warnings.some(({ code }: { code: string }) => code === 'RENDITIONS_DROPPED'));
  await eventually('the broadcast to go on', async () =>
    (await read(stream)).recordedSeconds >= recordedSeconds + 6 ? true : null,
  );
  const url = await masterUrl(stream);
  assert.ok(!(await text(url)).includes('rung-240.m3u8'));
  const top = listed(await text(new URL('index.m3u8', url).href));
  await eventually('gaps for those who watch the rung', async () => {
    const last = (await rungNow(stream)).at(-1);
    return last?.isGap === true && last.number >= (top.at(-1)?.number ?? 0) ? true : null;
  });
  await publishing.end();
  await end(stream);
});
