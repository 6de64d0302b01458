/** Proves that a video's thumbnail can be chosen from a time or an image, and reset. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { imageBytes, createCarousel } from './carousels.ts';
import { form, local, putSample, readyItem } from './media.ts';
import { eventually, startService } from './service.ts';
import { storedFiles } from './stored-files.ts';

const service = await startService({});
const get = async (id: string) => (await service.call('GET', `/v1/content/${id}`)).body.data;
const patch = (id: string, body: object, options: object = {}) =>
  service.call('PATCH', `/v1/content/${id}`, { body, ...options });

/** Mean brightness of a picture (0 to 255) and its size. */
async function look(url: string) {
  const answer = await fetch(local(service, url));
  assert.equal(answer.status, 200, url);
  const bytes = Buffer.from(await answer.arrayBuffer());
  const { channels } = await sharp(bytes).grayscale().stats();
  const { height, width } = await sharp(bytes).metadata();
  return { brightness: channels[0]?.mean ?? -1, size: [width, height] };
}

test('a time becomes the thumbnail in all its forms, and null restores the first one', async () => {
  const item = await readyItem(service, 'black-start.mp4');
  assert.equal(item.thumbnailTime, null);
  assert.ok((await look(item.thumbnailUrl)).brightness > 60);
  const asked = await patch(item.id, { thumbnailTime: 0.1, title: 'Dark' });
  assert.equal(asked.status, 200, asked.text);
  assert.deepEqual([asked.body.data.thumbnailTime, asked.body.data.title], [0.1, 'Dark']);
  const dark = await eventually('the cover', async () => {
    const now = await get(item.id);
    return now.thumbnailUrl === item.thumbnailUrl ? null : now;
  });
  for (const { height, url, width } of [...dark.thumbnails, { url: dark.thumbnailUrl }]) {
    const { brightness, size } = await look(url);
    assert.ok(brightness < 5, `${url} shows black: ${brightness}`);
    if (width !== undefined) assert.deepEqual(size, [width, height]);
  }
  assert.equal(dark.thumbnails.length, 4);
  assert.notEqual(dark.thumbnailHash, item.thumbnailHash);
  const feed = await service.call('GET', '/v1/feed', { key: service.publishableKey });
  assert.equal(feed.body.data[0].thumbnailUrl, dark.thumbnailUrl);
  assert.equal((await patch(item.id, { thumbnailTime: item.duration })).status, 200);
  await eventually('the last picture', async () => {
    const now = await get(item.id);
    return now.thumbnailUrl === dark.thumbnailUrl ? null : now;
  });
  await patch(item.id, { thumbnailTime: null });
  const again = await eventually('the first picture', async () => {
    const now = await get(item.id);
    return now.thumbnailUrl === item.thumbnailUrl ? now : null;
  });
  assert.equal(again.thumbnailHash, item.thumbnailHash);
  await eventually('the files of covers to go', async () => {
    const files = await storedFiles(service, 'objects');
    return files.some((file) => file.includes('/a-')) ? null : true;
  });
});

test('an image becomes the thumbnail at its own size, protected like its video, and can be removed', async () => {
  const item = await readyItem(service, 'portrait.mp4', { protected: true });
  const body = form([['file', await imageBytes({ width: 800, height: 400 })]]);
  const set = await service.call('PUT', `/v1/content/${item.id}/cover`, { body });
  assert.equal(set.status, 200, set.text);
  assert.equal(set.body.data.thumbnailUrl, null, 'it is protected');
  const signed = (await service.call('POST', `/v1/content/${item.id}/playback-token`)).body.data;
  assert.deepEqual((await look(signed.thumbnailUrl)).size, [800, 400]);
  for (const { height, url, width } of signed.thumbnails) {
    assert.deepEqual((await look(url)).size, [width, height]);
  }
  const bare = signed.thumbnailUrl.replace(/\/t\/[^/]+/, '');
  assert.equal((await fetch(local(service, bare))).status, 403);
  await patch(item.id, { protected: false });
  const open = await get(item.id);
  assert.deepEqual((await look(open.thumbnailUrl)).size, [800, 400]);
  const removed = await service.call('DELETE', `/v1/content/${item.id}/cover`);
  assert.match(removed.body.data.thumbnailUrl, /[0-9a-f]{12}\/thumbnail\.jpg$/);
  assert.deepEqual((await look(removed.body.data.thumbnailUrl)).size, [360, 640]);
});

test('an upload after the request for a time wins', async () => {
  const item = await readyItem(service, 'portrait.mp4');
  await patch(item.id, { thumbnailTime: 1 });
  const body = form([['file', await imageBytes({ width: 300, height: 300 })]]);
  await service.call('PUT', `/v1/content/${item.id}/cover`, { body });
  await eventually('no job to be left', async () => {
    const { body } = await service.call('GET', `/v1/content/${item.id}`);
    const files = await storedFiles(service, 'objects');
    const covers = new Set(files.map((one) => /\/a-[^/]+/.exec(one)?.[0]).filter(Boolean));
    return covers.size === 1 && body.data.thumbnailTime === null ? true : null;
  });
  assert.deepEqual((await look((await get(item.id)).thumbnailUrl)).size, [300, 300]);
});

test('a time without a picture is rejected with the reason', async () => {
  const item = await readyItem(service, 'small.mp4');
  const late = await patch(item.id, { thumbnailTime: item.duration + 0.1 });
  assert.deepEqual([late.status, late.body.error.code], [400, 'VALIDATION_ERROR']);
  assert.match(late.text, /at most the duration, 2/);
  assert.equal((await patch(item.id, { thumbnailTime: -1 })).status, 400);
  assert.equal((await patch(item.id, { thumbnailTime: '1' })).status, 400);
  const sound = await readyItem(service, 'audio-only.m4a');
  assert.equal((await patch(sound.id, { thumbnailTime: 1 })).status, 400);
  const carousel = await createCarousel(service, 'carousel');
  assert.equal((await patch(carousel.id, { thumbnailTime: 1 })).status, 400);
  const broken = await putSample(service, 'garbage-pictures.mp4');
  const failing = await patch(broken.body.data.id, { thumbnailTime: 0 });
  assert.equal(failing.body.error.code, 'CONTENT_NOT_READY');
  const body = form([['file', Buffer.from('<svg/>')]]);
  const text = await service.call('PUT', `/v1/content/${item.id}/cover`, { body });
  assert.equal(text.body.error.code, 'INVALID_MEDIA');
});
