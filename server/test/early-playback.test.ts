/**
 * Proves that a long video plays while it is being processed, that nothing a player has seen
 * changes when the process is killed, and that it disappears on deletion or failure.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { parseMediaPlaylist } from '../src/features/media/media.ts';
import { form, local, putSample, sampleBytes, settledItem } from './media.ts';
import { startProcess } from './processes.ts';
import { onlyInFullRuns } from './scale.ts';
import { query } from './seed.ts';
import { eventually, startService } from './service.ts';
import { storedFiles } from './stored-files.ts';

const service = await startService({ REELFEED_ROLES: 'api' });
const media = { REELFEED_ROLES: 'media', REELFEED_MEDIA_CONCURRENCY: '2' };
const startMedia = () => startProcess(service.connection, service.dataDir, media);
const get = async (id: string) => (await service.call('GET', `/v1/content/${id}`)).body.data;

async function allow(earlyPlayback: boolean): Promise<void> {
  const { body, status } = await service.call('PATCH', '/v1/organization', {
    body: { earlyPlayback },
  });
  assert.equal(status, 200);
  assert.equal(body.data.earlyPlayback, earlyPlayback);
}

async function read(url: string) {
  const answer = await fetch(local(service, url));
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, text: bytes.toString(), bytes, headers: answer.headers };
}

/** Waits until an item in processing plays. */
async function playing(id: string) {
  return eventually('the item to play early', async () => {
    const item = await get(id);
    assert.equal(item.errorReason, null);
    assert.notEqual(item.uploadStatus, 'ready', 'the clip takes longer than that');
    return item.uploadStatus === 'processing' && item.streamingUrl !== null ? item : null;
  });
}

/** The media playlist of the first rendition. */
async function playlist(streamingUrl: string) {
  const { text } = await read(streamingUrl);
  assert.match(text, /BANDWIDTH=\d+,.*RESOLUTION=360x640.*CODECS="avc1.*,mp4a\.40\.2"\n360\//);
  const url = new URL('360/index.m3u8', streamingUrl).href;
  const answer = await read(url);
  assert.equal(answer.status, 200);
  return { ...answer, url, lines: answer.text.trim().split('\n') };
}

before(() => sampleBytes('early.mp4'));

test('a long video plays during processing; a kill -9 changes nothing that was seen', async () => {
  await allow(true);
  const { body } = await putSample(service, 'early.mp4');
  const { id } = body.data;
  const first = await startMedia();
  const item = await playing(id);
  assert.equal(item.publishStatus, 'unpublished');
  const seen = await playlist(item.streamingUrl);
  assert.match(seen.text, /#EXT-X-PLAYLIST-TYPE:EVENT\n/);
  assert.match(seen.text, /#EXT-X-START:TIME-OFFSET=0/);
  assert.doesNotMatch(seen.text, /ENDLIST/);
  assert.equal(seen.headers.get('cache-control'), 'public, max-age=1');
  const { initSegment, segments } = parseMediaPlaylist(seen.text);
  assert.ok(segments.length >= 3, String(segments.length));
  const files = [initSegment ?? '', ...segments.map(({ name }) => name)];
  const bytes = new Map<string, Buffer>();
  for (const file of files) {
    const answer = await read(new URL(file, seen.url).href);
    assert.equal(answer.status, 200, file);
    bytes.set(file, answer.bytes);
  }
  await first.kill();
  const left = await playlist(item.streamingUrl);
  assert.ok(left.text.startsWith(seen.text), 'it has only grown');
  await startMedia();
  const ready = await settledItem(service, id, 'ready', 300_000);
  assert.equal(ready.streamingUrl, item.streamingUrl, 'the same address');
  const whole = await playlist(ready.streamingUrl);
  assert.match(whole.text, /PLAYLIST-TYPE:VOD[^]*#EXT-X-ENDLIST\n$/);
  const listed = parseMediaPlaylist(whole.text).segments;
  assert.deepEqual(listed.slice(0, segments.length), segments, 'the same segments');
  const target = (text: string) => /TARGETDURATION:\d+/.exec(text)?.[0];
  assert.equal(target(whole.text), target(seen.text));
  for (const [file, before] of bytes) {
    assert.ok(
      (await read(new URL(file, seen.url).href)).bytes.equals(before),
      `${file} is as it was`,
    );
  }
  for (const { name } of listed) {
    assert.equal((await read(new URL(name, seen.url).href)).status, 200, name);
  }
  assert.ok(Math.abs(ready.duration - 100) < 0.1);
  await eventually('one folder to be left', async () => {
    const stored = await storedFiles(service, 'objects');
    const folders = new Set(
      stored.filter((one) => one.startsWith('media/')).map((one) => one.split('/')[2]),
    );
    return folders.size === 1 ? true : null;
  });
  await service.call('POST', '/v1/content/bulk/delete', { body: { ids: [id] } });
});

test(
  'a protected one plays only with a token; a deletion ends it and removes its files',
  onlyInFullRuns,
  async () => {
    const { body } = await putSample(service, 'early.mp4', { protected: true });
    const { id } = body.data;
    const isNamed = `select media_prefix from content where content_id = $1 and media_prefix is not null`;
    await eventually('the item to play early', async () =>
      (await query(service, isNamed, [id])).length === 1 ? true : null,
    );
    assert.deepEqual(
      [(await get(id)).streamingUrl, (await get(id)).uploadStatus],
      ['', 'processing'],
    );
    const signed = (await service.call('POST', `/v1/content/${id}/playback-token`)).body.data;
    const seen = await playlist(signed.streamingUrl);
    assert.equal(seen.headers.get('cache-control'), 'private, max-age=1');
    assert.equal((await read(seen.url.replace(/\/t\/[^/]+/, ''))).status, 403);
    await service.call('POST', '/v1/content/bulk/delete', { body: { ids: [id] } });
    assert.equal((await read(seen.url)).status, 404);
  },
);

test(
  'damage found later ends it; without the setting nothing plays early',
  onlyInFullRuns,
  async () => {
    const cut = (await sampleBytes('early.mp4')).subarray(0);
    // The index at the end refers to data that is overwritten here.
    cut.fill(0xff, Math.floor(cut.length * 0.4), Math.floor(cut.length * 0.9));
    const made = await service.call('POST', '/v1/content/upload', {
      body: form([
        ['title', 'Damaged'],
        ['file', cut],
      ]),
    });
    const damaged = await settledItem(service, made.body.data.id, 'error', 300_000);
    assert.equal(damaged.errorReason.code, 'CORRUPT_MEDIA');
    assert.equal(damaged.streamingUrl, null);
    await allow(false);
    const { body } = await putSample(service, 'early.mp4');
    await eventually(
      'most of it to be processed',
      async () => {
        const item = await get(body.data.id);
        assert.equal(item.streamingUrl, null);
        return item.progress > 0.6 ? true : null;
      },
      300_000,
    );
  },
);
