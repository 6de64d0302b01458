/** Low latency from a process other than the one receiving the broadcast. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LowLatencyFollower, RungFollower } from './live/low-latency-rules.ts';
import { PlaylistFollower } from './live/hls-rules.ts';
import { generateKey } from '../src/features/keys/key-format.ts';
import { RtmpPublisher } from '../src/features/live/live.ts';
import { cloneDatabase } from './database.ts';
import {
  createStream,
  freePort,
  liveClip,
  publish,
  sendSeconds,
  type Stream,
} from './live-publisher.ts';
import { startProcess } from './processes.ts';
import { eventually, send, temporaryFolder, type Call } from './service.ts';

const connection = await cloneDatabase();
const dataDir = await temporaryFolder();
const secretKey = generateKey('secret');
const port = await freePort();
const shared = { REELFEED_SECRET_KEY: secretKey, REELFEED_LIVE_RENDITIONS: '240' };
const viewing = await startProcess(connection, dataDir, { ...shared, REELFEED_ROLES: 'api' });
const startIngest = () =>
  startProcess(connection, dataDir, {
    ...shared,
    REELFEED_ROLES: 'worker,media',
    REELFEED_RTMP_PORT: String(port),
  });
let ingest = await startIngest();

const service = {
  call: (method: string, path: string, call: Call = {}) =>
    send(`${viewing.url}${path}`, method, { key: secretKey, ...call }),
};

async function read({ id }: Stream) {
  return (await service.call('GET', `/v1/live-streams/${id}`)).body.data;
}

/** The media playlist's address, once it exists. */
async function mediaUrl({ contentId }: Stream): Promise<URL> {
  const url = await eventually('the address', async () => {
    const { body } = await service.call('GET', `/v1/content/${contentId}`);
    return body.data.streamingUrl;
  });
  return new URL(new URL('index.m3u8', url).pathname, viewing.url);
}

async function get(url: URL | string): Promise<Response> {
  const answer = await fetch(url);
  assert.equal(answer.status, 200, `${url} ${await answer.clone().text()}`);
  return answer;
}

const withQuery = (url: URL, query: string) => new URL(`${url.pathname}?${query}`, url);

/** Reloads like a player until this many parts have appeared, and checks every version. */
async function follow(url: URL, follower: LowLatencyFollower, parts: number): Promise<URL> {
  const until = follower.parts.length + parts;
  let now = follower.take(await (await get(url)).text());
  while (follower.parts.length < until) {
    const open = now.parts.filter(({ segment }) => segment === now.openSegment);
    const next = `_HLS_msn=${now.openSegment}&_HLS_part=${open.length}`;
    now = follower.take(await (await get(withQuery(url, next))).text());
  }
  return url;
}

test('another process serves the parts of a stream, and every reload is valid', async () => {
  const stream = await createStream(service, { reconnectWindow: 60 });
  await using publishing = await publish(port, stream.streamKey, 1);
  const url = await mediaUrl(stream);
  const follower = new LowLatencyFollower();
  await follow(url, follower, 20);
  assert.ok(follower.keptHints >= 12, `${follower.keptHints} hints came true`);
  assert.ok(follower.parts.some(({ isIndependent }) => isIndependent));

  const now = follower.take(await (await get(url)).text());
  const segment = now.segments.at(-1) ?? assert.fail('no segment');
  const own = now.parts.filter((part) => part.segment === segment.number);
  const bytes = await Promise.all(
    own.map(async ({ uri }) => Buffer.from(await (await get(new URL(uri, url))).arrayBuffer())),
  );
  const whole = Buffer.from(await (await get(new URL(segment.uri, url))).arrayBuffer());
  assert.deepEqual(Buffer.concat(bytes), whole);

  const refused = async (query: string) => (await fetch(withQuery(url, query))).status;
  assert.equal(await refused(`_HLS_msn=${now.openSegment + 5}`), 400);
  assert.equal(await refused(`_HLS_msn=${now.openSegment + 1}&_HLS_part=40`), 400);
  assert.equal(await refused('_HLS_part=1'), 400);
  assert.equal(await refused('_HLS_msn=x'), 400);
  await publishing.end();
  const plain = new PlaylistFollower();
  plain.take(await (await get(url)).text());
  await service.call('POST', `/v1/live-streams/${stream.id}/end`);
  await eventually('the end', async () =>
    plain.take(await (await get(url)).text()).isEnded ? true : null,
  );
});

test('a late part is 503, and an announced one is waited for', async () => {
  const stream = await createStream(service, { reconnectWindow: 60 });
  const publisher = await RtmpPublisher.open(`rtmp://127.0.0.1:${port}/live`, stream.streamKey);
  const clip = await liveClip();
  await sendSeconds(publisher, clip, { fromMs: 0, seconds: 5 });
  const url = await mediaUrl(stream);
  const follower = new LowLatencyFollower();
  const now = await eventually('the third segment', async () => {
    const found = follower.take(await (await get(url)).text());
    return found.openSegment === 2 && found.hint !== null ? found : null;
  });
  const late = fetch(withQuery(url, `_HLS_msn=${now.openSegment}`));
  const hint = new URL(now.hint ?? '', url);
  const hinted = fetch(hint);
  assert.equal((await late).status, 503);
  await sendSeconds(publisher, clip, { fromMs: 5_000, seconds: 1 });
  assert.ok([200, 404].includes((await hinted).status));
  await eventually('the part', async () => ((await fetch(hint)).status === 200 ? true : null));
  await publisher.end();
  await service.call('DELETE', `/v1/live-streams/${stream.id}`);
});

test('segments published by a killed process stay listed and are recorded', async () => {
  const stream = await createStream(service, { reconnectWindow: 600 });
  await using first = await publish(port, stream.streamKey, 1);
  const url = await mediaUrl(stream);
  const follower = new LowLatencyFollower();
  await follow(url, follower, 10);
  await ingest.kill();
  await first.publisher.closed;
  const before = follower.take(await (await get(url)).text());
  ingest = await startIngest();
  await using second = await eventually('the encoder to be back', () =>
    publish(port, stream.streamKey, 1).catch(() => null),
  );
  await follow(url, follower, 10);
  const listed = follower.parts.filter(({ segment }) => segment === before.openSegment);
  const open = before.parts.filter(({ segment }) => segment === before.openSegment);
  assert.ok(listed.length >= open.length);
  await second.end();
  await service.call('POST', `/v1/live-streams/${stream.id}/end`);
  const item = await eventually(
    'the recording',
    async () => {
      const { body } = await service.call('GET', `/v1/content/${stream.contentId}`);
      return body.data.uploadStatus === 'ready' && body.data.duration !== null ? body.data : null;
    },
    180_000,
  );
  const { recordedSeconds } = await read(stream);
  assert.ok(Math.abs(item.duration - recordedSeconds) < 0.5, `${item.duration} ${recordedSeconds}`);
});

test('a rung can be waited for too, and every playlist reports the progress of the other', async () => {
  const stream = await createStream(service, { reconnectWindow: 60 });
  const size = { width: 360, height: 640 };
  await using publishing = await publish(port, stream.streamKey, 1, 'h264', size);
  const url = await mediaUrl(stream);
  const rungUrl = new URL('rung-240.m3u8', url);
  const [top, rung] = [new LowLatencyFollower(), new RungFollower()];
  const isReported = () =>
    eventually('the report of the rung', async () => {
      const now = top.take(await (await get(url)).text());
      return now.reports.find(({ uri }) => uri === 'rung-240.m3u8') ?? null;
    });
  let { lastSegment } = await isReported();
  const until = lastSegment + 4;
  while (lastSegment < until) {
    // Like a player that leaves the top rendition in the middle of a segment.
    const next = withQuery(rungUrl, `_HLS_msn=${lastSegment + 1}&_HLS_part=2`);
    const now = rung.take(await (await get(next)).text());
    assert.ok((now.segments.at(-1)?.number ?? 0) > lastSegment, 'the answer has the segment');
    lastSegment = now.segments.at(-1)?.number ?? 0;
    const [report] = now.reports;
    assert.equal(report?.uri, 'index.m3u8');
    assert.ok(report.lastSegment >= lastSegment, 'the top is never behind its rung');
    await get(new URL(now.segments.at(-1)?.uri ?? '', url));
    const { lastSegment: reported } = await isReported();
    assert.ok(reported >= lastSegment);
  }
  const { openSegment } = top.take(await (await get(url)).text());
  const refused = await fetch(withQuery(rungUrl, `_HLS_msn=${openSegment + 9}`));
  assert.equal(refused.status, 400);
  await publishing.end();
  await service.call('POST', `/v1/live-streams/${stream.id}/end`);
  await eventually('the end of the rung', async () =>
    (await (await get(rungUrl)).text()).includes('#EXT-X-ENDLIST') ? true : null,
  );
});
