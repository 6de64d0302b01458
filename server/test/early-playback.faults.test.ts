/** Proves that a long video in a bucket plays while it is being processed. */
import './early-playback.test.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMediaPlaylist } from '../src/features/media/media.ts';
import { fetchAll, local, putSample, settledItem } from './media.ts';
import { s3Settings, startS3 } from './s3-server.ts';
import { eventually, send, startService } from './service.ts';

test('a long video in a bucket plays early, and at the same address once it is ready', async () => {
  const service = await startService(s3Settings(await startS3()));
  const body = { earlyPlayback: true };
  assert.equal((await service.call('PATCH', '/v1/organization', { body })).status, 200);
  const { id } = (await putSample(service, 'early.mp4')).body.data;
  const early = await eventually('the item to play early', async () => {
    const { data } = (await service.call('GET', `/v1/content/${id}`)).body;
    assert.notEqual(data.uploadStatus, 'ready', 'the clip takes longer than that');
    return data.streamingUrl === null ? null : data;
  });
  const url = local(service, new URL('360/index.m3u8', early.streamingUrl).href);
  const playlist = await send(url, 'GET');
  assert.equal(playlist.status, 200);
  const { segments } = parseMediaPlaylist(playlist.text);
  assert.ok(segments.length >= 3);
  for (const { name } of segments) {
    assert.equal((await send(new URL(name, url).href, 'GET')).status, 200, name);
  }
  const ready = await settledItem(service, id, 'ready', 300_000);
  assert.equal(ready.streamingUrl, early.streamingUrl);
  const files = await fetchAll(service, ready.streamingUrl);
  assert.ok(files.every(({ reply }) => reply.status === 200));
});
