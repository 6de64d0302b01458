/**
 * Proves captions: upload, delivery, HLS playlist, removal, and access rules like their video's.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCarousel } from './carousels.ts';
import { fetchAll, form, local, readyItem } from './media.ts';
import { createItem } from './seed.ts';
import { eventually, startService, type Reply } from './service.ts';

const service = await startService({});

const webVtt = 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n';
const subRip = '1\n00:00:00,500 --> 00:00:01,500\n<b>Hallo</b><script>\n';

const upload = (id: string, text: string | Buffer, fields: [string, string][]) =>
  service.call('POST', `/v1/content/${id}/captions`, {
    body: form([['file', Buffer.from(text)], ...fields]),
  });

function assertCode(reply: Reply, status: number, code: string): void {
  assert.equal(reply.status, status, reply.text);
  assert.equal(reply.body.error.code, code);
}

test('captions join the playlist of a ready video, and leave it with their file', async () => {
  const item = await readyItem(service, 'faststart.mp4');
  const english = await upload(item.id, webVtt, [['language', 'EN']]);
  assert.equal(english.status, 201, english.text);
  const { id, createdAt, url, ...track } = english.body.data;
  assert.deepEqual(track, {
    language: 'en',
    label: 'English',
    source: 'uploaded',
    trackId: id,
    status: 'ready',
  });
  assert.ok(Date.parse(createdAt) > Date.now() - 60_000);
  const german = await upload(item.id, subRip, [
    ['language', 'de'],
    ['label', 'Für alle'],
  ]);
  const listed = await service.call('GET', `/v1/content/${item.id}/captions`);
  assert.deepEqual(listed.body.data, [english.body.data, german.body.data]);
  const shown = (await service.call('GET', `/v1/content/${item.id}`)).body.data;
  assert.deepEqual(shown.captionTracks, listed.body.data);

  const file = await fetch(local(service, url));
  assert.equal(file.headers.get('content-type'), 'text/vtt; charset=utf-8');
  assert.match(
    await file.text(),
    /^WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:18000,LOCAL:00:00:00.000\n\n00:00:00\.000 --> 00:00:01\.000\nHello/,
  );
  const files = await fetchAll(service, item.streamingUrl);
  const master = files[0]?.reply.text ?? '';
  assert.match(master, /TYPE=SUBTITLES,GROUP-ID="captions",NAME="English",LANGUAGE="en"/);
  assert.equal(
    master.match(/^#EXT-X-STREAM-INF.*SUBTITLES="captions"$/gm)?.length,
    master.match(/^#EXT-X-STREAM-INF/gm)?.length,
  );
  assert.ok(files.every(({ reply }) => reply.status === 200));
  const served = files.filter((one) => one.url.endsWith('captions.vtt'));
  assert.equal(served.length, 2);
  assert.match(served.map(({ reply }) => reply.text).join(''), /<b>Hallo<\/b>\n/);

  const removed = await service.call('DELETE', `/v1/content/${item.id}/captions/${id}`);
  assert.deepEqual(removed.body.data, { id, deleted: true });
  const again = await fetchAll(service, item.streamingUrl);
  assert.doesNotMatch(again[0]?.reply.text ?? '', /English/);
  await eventually('the file to go', async () =>
    (await fetch(local(service, url))).status === 404 ? true : null,
  );
  const [left] = (await service.call('GET', `/v1/content/${item.id}/captions`)).body.data;
  assert.equal(left.language, 'de');

  await service.call('PATCH', `/v1/content/${item.id}`, { body: { protected: true } });
  assert.equal((await fetch(local(service, german.body.data.url))).status, 403);
  const token = await service.call('POST', `/v1/content/${item.id}/playback-token`);
  const guarded = await fetchAll(service, token.body.data.streamingUrl);
  assert.ok(guarded.every(({ reply }) => reply.status === 200));
  assert.ok(guarded.some((one) => one.url.endsWith('captions.vtt')));
  const [withToken] = token.body.data.captionTracks;
  assert.equal((await fetch(local(service, withToken.url))).status, 200);
  const hidden = (await service.call('GET', `/v1/content/${item.id}`)).body.data.captionTracks;
  assert.equal(hidden[0].url, '');
});

test('invalid captions, and captions for unknown items, are rejected and leave nothing', async () => {
  const { id } = await createItem(service);
  const en: [string, string] = ['language', 'en'];
  assertCode(await upload(id, 'no captions at all', [en]), 422, 'INVALID_MEDIA');
  assertCode(await upload(id, Buffer.alloc(3 * 1024 * 1024, 'x'), [en]), 413, 'PAYLOAD_TOO_LARGE');
  assertCode(await upload(id, webVtt, []), 400, 'VALIDATION_ERROR');
  for (const language of ['english', 'xx', 'q', 'de-AT', '']) {
    assertCode(await upload(id, webVtt, [['language', language]]), 400, 'VALIDATION_ERROR');
  }
  const labels = ['"quoted"', 'a\nb', 'x'.repeat(101)];
  for (const label of labels) {
    assertCode(await upload(id, webVtt, [en, ['label', label]]), 400, 'VALIDATION_ERROR');
  }
  assertCode(await upload(id, webVtt, [en, ['kind', 'x']]), 400, 'VALIDATION_ERROR');
  const carousel = await createCarousel(service, 'carousel');
  assertCode(await upload(carousel.id, webVtt, [en]), 409, 'CONFLICT');
  assertCode(await upload('nothing', webVtt, [en]), 404, 'NOT_FOUND');
  assertCode(await service.call('DELETE', `/v1/content/${id}/captions/${id}`), 404, 'NOT_FOUND');
  const listed = await service.call('GET', `/v1/content/${id}/captions`);
  assert.deepEqual(listed.body.data, []);
});
