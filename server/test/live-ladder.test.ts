/** Proves that a broadcast has lower renditions that are aligned with it, and outlives their loss. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { RtmpPublisher } from '../src/features/live/live.ts';
import { createStream, freePort, liveClip, sendSeconds, type Stream } from './live-publisher.ts';
import { local } from './media.ts';
import { eventually, startService } from './service.ts';

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

/** The whole of an ended broadcast: the top's segments, and the rung's. */
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

test('a rung has the segments of the top, through jumps, drops and another size', async () => {
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
