/** Proves that real clips become playable items, and that everything else ends in a clear error. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { writeFileOf } from '../src/features/media/testing/corpus/write-file.ts';
import type { ClipName, HostileName } from './media-samples.ts';
import { fetchAll, form, local, putSample, sampleBytes, settledItem } from './media.ts';
import { startProcess } from './processes.ts';
import { createItem, createOrganization, query } from './seed.ts';
import { eventually, send, startService, temporaryFolder } from './service.ts';
import { storedFiles } from './stored-files.ts';

const service = await startService({ REELFEED_MEDIA_CONCURRENCY: '2' });
const get = async (id: string) => (await service.call('GET', `/v1/content/${id}`)).body.data;

/** Waits until no item has work left. */
async function allRenditions(): Promise<void> {
  await eventually(
    'all renditions',
    async () => {
      const [row] = await query(
        service,
        `select (select count(*) from job where state <> 'failed')::int
              + (select count(*) from media_preparation)::int as n`,
      );
      return row?.['n'] === 0 ? true : null;
    },
    120_000,
  );
}

const types: Record<string, string> = {
  m3u8: 'application/vnd.apple.mpegurl',
  m4s: 'video/iso.segment',
  mp4: 'video/mp4',
  jpg: 'image/jpeg',
};

async function assertPlayable(masterUrl: string, from = service): Promise<string[]> {
  const files = await fetchAll(from, masterUrl);
  for (const { url, reply, bytes } of files) {
    assert.equal(reply.status, 200, url);
    const type = types[url.split('.').at(-1) ?? ''];
    assert.equal(reply.headers.get('content-type'), type, url);
    assert.equal(reply.headers.get('access-control-allow-origin'), '*', url);
    assert.equal(reply.headers.get('x-content-type-options'), 'nosniff');
    assert.match(
      reply.headers.get('content-security-policy') ?? '',
      /^sandbox; default-src 'none'$/,
    );
    assert.ok(bytes > 0, url);
  }
  return files.map(({ url }) => url);
}

/** Number of streams in the master playlist. */
async function variants(masterUrl: string): Promise<number> {
  const [master] = await fetchAll(service, masterUrl);
  return (master?.reply.text.match(/#EXT-X-STREAM-INF/g) ?? []).length;
}

// Created before any test's timeout starts.
before(() => sampleBytes('full-hd-3s.mp4'));

test('the tracks of a file are reported, and so are problems of one that plays nevertheless', async () => {
  const folder = await temporaryFolder();
  const recipe = {
    name: 'lost sound',
    format: 'mpegts',
    streams: [
      { kind: 'video', encoder: 'libx264', options: { preset: 'ultrafast' } },
      { kind: 'audio', encoder: 's302m', language: 'deu' },
    ],
    expected: { verdict: 'ready', seconds: 2, hasSound: false },
  } as const;
  const file = path.join(folder, 'lost-sound.ts');
  await writeFileOf(recipe, file);
  const { uploadUrl, id } = await createItem(service, { title: 'lost sound' });
  const pending = await get(id);
  assert.deepEqual([pending.sourceTracks, pending.warnings], [[], []]);
  await send(local(service, uploadUrl), 'PUT', { body: await readFile(file) });
  const { customMetadata, sourceTracks, warnings } = await settledItem(service, id, 'ready');
  assert.deepEqual(
    sourceTracks.map((track: object) => ({ ...track, duration: 2 })),
    [
      { kind: 'video', codec: 'h264', language: null, duration: 2, used: true, reason: null },
      {
        kind: 'audio',
        codec: 's302m',
        language: 'deu',
        duration: 2,
        used: false,
        reason: 'codec_not_supported',
      },
    ],
  );
  assert.deepEqual(warnings, [
    {
      code: 'SOUND_NOT_SUPPORTED',
      message: 'The audio codec is not supported: s302m. The item is silent.',
    },
  ]);
  assert.equal(customMetadata.language, undefined, 'nobody has listened to it');
});

test('a clip of 1080×1920 goes from pending through processing, with progress, to ready', async () => {
  const { body, status } = await putSample(service, 'full-hd-3s.mp4');
  assert.equal(status, 200);
  assert.equal(body.data.uploadStatus, 'pending');
  const seen = new Set<string>();
  const progress: number[] = [];
  const item = await eventually(
    'the clip to be ready',
    async () => {
      const data = await get(body.data.id);
      seen.add(data.uploadStatus);
      if (data.uploadStatus === 'processing') progress.push(data.progress);
      return data.uploadStatus === 'ready' ? data : null;
    },
    120_000,
  );
  assert.ok(seen.has('processing'), [...seen].join());
  assert.deepEqual(
    progress,
    progress.toSorted((a, b) => a - b),
    'progress only grows',
  );
  assert.ok(
    progress.some((value) => value > 0 && value < 1),
    progress.join(),
  );
  const { width, height, aspectRatio, maxFrameRate, resolutionTier } = item;
  assert.deepEqual(
    { width, height, aspectRatio, maxFrameRate, resolutionTier },
    { width: 1080, height: 1920, aspectRatio: '9:16', maxFrameRate: 30, resolutionTier: 'FHD' },
  );
  assert.ok(Math.abs(item.duration - 3) < 0.1, String(item.duration));
  assert.equal(item.publishStatus, 'published');
  assert.equal(item.progress, 1);
  assert.equal(item.errorReason, null);
  await assertPlayable(item.streamingUrl);
  const feed = await service.call('GET', '/v1/feed', { key: service.publishableKey });
  const inFeed = feed.body.data.map(({ id }: { id: string }) => id);
  assert.ok(inFeed.includes(item.id), 'in the feed at once');
  await allRenditions();
  assert.ok((await variants(item.streamingUrl)) >= 3, 'all rungs');
  const urls = await assertPlayable(item.streamingUrl);
  assert.ok(urls.length > 12, `${urls.length} files`);
  const thumbnail = await fetch(item.thumbnailUrl.replace('localhost', '127.0.0.1'));
  assert.equal(thumbnail.status, 200);
  assert.equal(thumbnail.headers.get('content-type'), 'image/jpeg');
});

test('silent, audio-only, odd-sized, small, rotated clips and other containers become ready', async () => {
  const expected: [ClipName, object][] = [
    ['silent.mp4', { width: 360, height: 640, resolutionTier: 'SD', aspectRatio: '9:16' }],
    [
      'audio-only.m4a',
      { width: null, height: null, resolutionTier: 'audio-only', aspectRatio: null },
    ],
    ['odd-size.mp4', { width: 361, height: 641 }],
    ['small.mp4', { width: 160, height: 120, aspectRatio: '4:3' }],
    ['rotated-90.mp4', { width: 360, height: 640, aspectRatio: '9:16' }],
    ['portrait.mkv', { width: 360, height: 640 }],
    ['portrait.ts', { width: 360, height: 640 }],
  ];
  const uploads = await Promise.all(expected.map(([name]) => putSample(service, name)));
  for (const [index, [name, fields]] of expected.entries()) {
    const item = await settledItem(service, uploads[index]?.body.data.id, 'ready');
    for (const [field, value] of Object.entries(fields)) {
      assert.equal(item[field], value, `${name}: ${field}`);
    }
    assert.ok(item.duration > 1, name);
    await assertPlayable(item.streamingUrl);
    assert.match(item.thumbnailUrl, /thumbnail\.jpg$/, name);
  }
});

test('a protected item hides its derived files; a token opens it, and deletion removes it', async () => {
  const { body } = await putSample(service, 'portrait.mp4', { protected: true });
  const { id } = body.data;
  await settledItem(service, id, 'ready');
  await allRenditions();
  const { thumbnails, previewUrl, storyboardUrl, downloadUrl, thumbnailHash } = await get(id);
  assert.deepEqual([thumbnails, previewUrl, storyboardUrl, downloadUrl], [[], null, null, null]);
  assert.match(thumbnailHash, /^[A-Za-z0-9+/]{20,}=*$/);
  const signed = (await service.call('POST', `/v1/content/${id}/playback-token`)).body.data;
  assert.equal(signed.thumbnails.length, 4);
  const urls: [string, string][] = [
    ...signed.thumbnails.map((one: { url: string; type: string }) => [one.url, one.type]),
    [signed.previewUrl, 'image/webp'],
    [signed.storyboardUrl, 'text/vtt; charset=utf-8'],
    [signed.downloadUrl, 'video/mp4'],
  ];
  const status = async (url: string) => (await fetch(local(service, url))).status;
  for (const [url, type] of urls) {
    const answer = await fetch(local(service, url));
    assert.equal(answer.status, 200, url);
    assert.equal(answer.headers.get('content-type'), type, url);
    assert.ok((await answer.arrayBuffer()).byteLength > 100, url);
    assert.equal(await status(url.replace(/\/t\/[^/]+/, '')), 403, 'without the token');
  }
  await service.call('PATCH', `/v1/content/${id}`, { body: { protected: false } });
  const open = await get(id);
  for (const url of [open.previewUrl, open.storyboardUrl, open.downloadUrl]) {
    assert.equal(await status(url), 200, url);
  }
  const unsigned = (url: string) => url.replace(/\/t\/[^/]+/, '');
  assert.equal(await status(unsigned(open.downloadUrl)), 403, 'a download is signed');
  const [token = ''] = /\/t\/[^/]+/.exec(open.downloadUrl) ?? [];
  const stream = open.streamingUrl.replace('/media', `/media${token}`);
  assert.equal(await status(stream), 403, 'its token opens nothing else');
  assert.equal((await get(id)).downloadUrl, open.downloadUrl, 'and stays for an hour');
  const kept = await fetch(local(service, open.downloadUrl));
  assert.match(kept.headers.get('cache-control') ?? '', /private/);
  await kept.arrayBuffer();
  await service.call('PATCH', `/v1/content/${id}`, { body: { protected: true } });
  assert.equal(await status(open.downloadUrl), 403, 'nor a protected item');
  await service.call('PATCH', `/v1/content/${id}`, { body: { protected: false } });
  await service.call('POST', '/v1/content/bulk/delete', { body: { ids: [id] } });
  assert.equal(await status(open.downloadUrl), 404);
});

test('bytes that only the engine can judge fail with a code, and never get stuck', async () => {
  const codes: Partial<Record<HostileName, RegExp>> = {
    'no-index.mp4': /^(CORRUPT_MEDIA|UNSUPPORTED_MEDIA)$/,
    'header-then-garbage.mp4': /^(CORRUPT_MEDIA|UNSUPPORTED_MEDIA)$/,
    'garbage-pictures.mp4': /^CORRUPT_MEDIA$/,
    'external-track.mov': /^(CORRUPT_MEDIA|UNSUPPORTED_MEDIA)$/,
  };
  const names = Object.keys(codes) as HostileName[];
  const uploads = await Promise.all(names.map((name) => putSample(service, name)));
  for (const [index, name] of names.entries()) {
    const item = await settledItem(service, uploads[index]?.body.data.id, 'error');
    assert.match(item.errorReason.code, codes[name] ?? /^$/, name);
    assert.match(item.errorReason.message, /^[A-Z][^/\\]{10,300}$/, name);
    assert.equal(item.publishStatus, 'unpublished');
    assert.equal(item.streamingUrl, null);
    assert.equal(item.thumbnailUrl, null);
  }
  const { body } = await putSample(service, 'cut.mp4');
  const cut = await eventually('the cut clip to settle', async () => {
    const data = await get(body.data.id);
    return ['ready', 'error'].includes(data.uploadStatus) ? data : null;
  });
  if (cut.uploadStatus === 'ready') await assertPlayable(cut.streamingUrl);
  else assert.equal(cut.errorReason.code, 'CORRUPT_MEDIA');
});

test('an item whose bytes are gone fails instead of waiting forever; a retry finds them again', async () => {
  const { body } = await putSample(service, 'garbage-pictures.mp4');
  const { id } = body.data;
  await settledItem(service, id, 'error');
  const [row] = await query(service, 'select source_key from content where content_id = $1', [id]);
  const source = path.join(service.dataDir, 'media/objects', String(row?.['source_key']));
  const again = async () => {
    const { status } = await service.call('POST', `/v1/content/${id}/retry`);
    assert.equal(status, 200);
    return settledItem(service, id, 'error');
  };
  assert.equal((await again()).errorReason.code, 'CORRUPT_MEDIA');
  await rm(source);
  const gone = await again();
  assert.equal(gone.errorReason.code, 'PROCESSING_FAILED');
  assert.match(gone.errorReason.message, /original file no longer exists/);
});

test('an item whose further renditions fail says so, keeps playing, and gets them by a retry', async () => {
  await query(
    service,
    `create function use_up() returns trigger language plpgsql as
      'begin new.attempts := 3; return new; end';
     create trigger use_up before insert on job for each row when (new.rank = 1)
       execute function use_up()`,
  );
  const { body } = await putSample(service, 'landscape.mp4');
  const { id } = body.data;
  const item = await eventually('the item to say what is missing', async () => {
    const data = await get(id);
    return data.errorReason === null ? null : data;
  });
  await query(service, 'drop trigger use_up on job; drop function use_up');
  assert.equal(item.uploadStatus, 'ready');
  assert.equal(item.publishStatus, 'published');
  assert.equal(item.errorReason.code, 'PROCESSING_FAILED');
  assert.match(item.errorReason.message, /^The item plays.*failed 3 times/);
  assert.equal(await variants(item.streamingUrl), 1);
  const retried = await service.call('POST', `/v1/content/${id}/retry`);
  assert.equal(retried.status, 200);
  assert.deepEqual([retried.body.data.uploadStatus, retried.body.data.progress], ['ready', 1]);
  await allRenditions();
  assert.equal((await get(id)).errorReason, null);
  assert.equal(await variants(item.streamingUrl), 5);
  assert.equal((await service.call('POST', `/v1/content/${id}/retry`)).status, 409);
});

test('an item archived while it waited is ready when it is restored', async () => {
  const { body } = await putSample(service, 'portrait.mp4');
  const { id } = body.data;
  assert.equal((await service.call('DELETE', `/v1/content/${id}`)).status, 200);
  await allRenditions();
  const restored = await service.call('POST', `/v1/content/${id}/restore`);
  assert.equal(restored.status, 200);
  const item = await settledItem(service, id, 'ready');
  await assertPlayable(item.streamingUrl);
});

test('without autoPublish a ready item waits to be published', async () => {
  const { secretKey } = await createOrganization(service, 'By hand');
  const own = { key: secretKey };
  await service.call('PATCH', '/v1/organization', { ...own, body: { autoPublish: false } });
  const made = await service.call('POST', '/v1/content/upload', {
    ...own,
    body: form([
      ['title', 'By hand'],
      ['file', await sampleBytes('small.mp4')],
    ]),
  });
  const { id } = made.body.data;
  const read = () => service.call('GET', `/v1/content/${id}`, own);
  await eventually('the item to be ready', async () =>
    (await read()).body.data.uploadStatus === 'ready' ? true : null,
  );
  assert.equal((await read()).body.data.publishStatus, 'unpublished');
  const feed = async () => (await service.call('GET', '/v1/feed', own)).body.data.length;
  assert.equal(await feed(), 0);
  await service.call('PATCH', `/v1/content/${id}`, {
    ...own,
    body: { publishStatus: 'published' },
  });
  assert.equal(await feed(), 1);
});

test('a video longer than allowed is TOO_LONG', async () => {
  const short = await startService({ REELFEED_MEDIA_MAX_DURATION: '3s' });
  const { body } = await putSample(short, 'faststart.mp4');
  const item = await settledItem(short, body.data.id, 'error');
  assert.equal(item.errorReason.code, 'TOO_LONG');
});

test('files published by killed attempts are removed, however the item ends', async () => {
  const killedAttempt = '0123456789ab';
  const waiting = await startService({ REELFEED_ROLES: 'api' });
  const samples = ['portrait.mp4', 'garbage-pictures.mp4', 'portrait.mp4'] as const;
  const ids: string[] = [];
  for (const name of samples) ids.push((await putSample(waiting, name)).body.data.id);
  const [ready = '', refused = '', usedUp = ''] = ids;
  await query(
    waiting,
    `update job set attempts = 3 where name = 'process-media' and payload->>'contentId' = $1`,
    [usedUp],
  );
  const folders = await query(
    waiting,
    `select 'media/' || playback_id || '/${killedAttempt}' as folder from content`,
  );
  for (const { folder } of folders) {
    const killed = path.join(waiting.dataDir, 'media/objects', String(folder));
    await mkdir(killed, { recursive: true });
    await writeFile(path.join(killed, 'master.m3u8'), '#EXTM3U');
  }
  await startProcess(waiting.connection, waiting.dataDir, { REELFEED_ROLES: 'media' });
  await settledItem(waiting, ready, 'ready');
  await settledItem(waiting, refused, 'error');
  const given = await settledItem(waiting, usedUp, 'error');
  assert.match(given.errorReason.message, /failed 3 times/);
  await eventually('the folders of killed attempts to go', async () => {
    const files = await storedFiles(waiting, 'objects');
    return files.some((file) => file.includes(`/${killedAttempt}/`)) ? null : true;
  });
  await assertPlayable((await settledItem(waiting, ready, 'ready')).streamingUrl, waiting);
});

test('nothing is left over: no work files, and one media folder for each ready item', async () => {
  await allRenditions();
  await eventually('work files to go', async () =>
    (await storedFiles(service, 'work')).length === 0 ? true : null,
  );
  // The purge of a permanently deleted item may still be in progress.
  await eventually('folders of deleted items to go', async () => {
    const files = await storedFiles(service, 'objects');
    const folders = new Set(
      files
        .filter((file) => file.startsWith('media/'))
        .map((file) => file.split('/').slice(0, 3).join('/')),
    );
    const rows = await query(
      service,
      `select 'media/' || media_prefix as folder from content where media_prefix is not null`,
    );
    const named = new Set(rows.map(({ folder }) => folder));
    return isDeepStrictEqual(folders, named) ? true : null;
  });
});
