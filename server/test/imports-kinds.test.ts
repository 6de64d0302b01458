/** Proves imports of image carousels and from buckets, and the event at their end. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { imageBytes } from './carousels.ts';
import { atEnd } from './database.ts';
import { local, sampleBytes, settledItem } from './media.ts';
import { s3Settings, startS3 } from './s3-server.ts';
import { query } from './seed.ts';
import { eventually, send, startService } from './service.ts';

const s3 = await startS3({ bucket: 'archive' });
const clip = await sampleBytes('faststart.mp4');
const images = {
  '/red': await imageBytes({ color: '#d02020' }),
  '/blue': await imageBytes({ color: '#2020d0', format: 'webp' }),
  '/page': Buffer.from('<!doctype html>'),
};
let isBack = false;
const server = createServer((request, response) => {
  const path = request.url ?? '';
  if (path === '/later' && isBack) return void response.end(images['/red']);
  const bytes = images[path as keyof typeof images];
  response.writeHead(bytes === undefined ? 404 : 200).end(bytes);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
atEnd(async () => {
  server.closeAllConnections();
  server.close();
});
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const { REELFEED_MEDIA_URL: _onDisk, ...credentials } = s3Settings(s3);
const service = await startService({
  ...credentials,
  REELFEED_EGRESS_ALLOW: '127.0.0.1',
  REELFEED_IMPORT_BUCKETS: 'archive/in, elsewhere',
});

function storeInBucket(name: string, bytes: Buffer): void {
  s3.objects.set(name, { bytes, etag: `"${name}"`, modifiedAt: new Date() });
}

async function importAll(items: object[]) {
  const { status, body, text } = await service.call('POST', '/v1/content/import', {
    body: { items },
  });
  assert.equal(status, 201, text);
  return body.data;
}

async function finishedEvent(importId: string) {
  return eventually('the event', async () => {
    const [row] = await query(
      service,
      `select data from webhook_event where kind = 'content.import.finished'
       and data::jsonb ->> 'importId' = $1`,
      [importId],
    );
    const data = row?.['data'];
    return data === undefined ? null : typeof data === 'string' ? JSON.parse(data) : data;
  });
}

test('a carousel is imported with its images in order, and is ready with the last one', async () => {
  const { results, importId } = await importAll([
    {
      title: 'Colours',
      contentType: 'carousel',
      externalId: 'colours',
      autoScrollInterval: 3,
      images: [{ sourceUrl: `${origin}/red`, altText: 'red' }, { sourceUrl: `${origin}/blue` }],
    },
  ]);
  const [{ item }] = results;
  assert.deepEqual([item.contentType, item.uploadStatus, item.images], ['carousel', 'pending', []]);
  const ready = await settledItem(service, item.id, 'ready');
  assert.equal(ready.publishStatus, 'published');
  assert.equal(ready.autoScrollInterval, 3);
  assert.deepEqual(
    ready.images.map(({ altText, position }: { altText: string; position: number }) => [
      altText,
      position,
    ]),
    [
      ['red', 0],
      [null, 1],
    ],
  );
  for (const { imageUrl } of ready.images) {
    const picture = await send(local(service, imageUrl), 'GET');
    assert.equal(picture.status, 200);
  }
  const feed = await service.call('GET', '/v1/feed', { key: service.publishableKey });
  assert.ok(feed.body.data.some(({ id }: { id: string }) => id === item.id));
  const event = await finishedEvent(importId);
  assert.deepEqual(
    [event.totalItems, event.readyItems, event.failedItems, event.items],
    [1, 1, 0, [{ contentId: item.id, externalId: 'colours', status: 'ready', error: null }]],
  );
  const again = await importAll([
    { title: 'Colours', externalId: 'colours', images: [{ sourceUrl: `${origin}/red` }] },
  ]);
  assert.deepEqual([again.results[0].status, again.importId], ['existing', null]);
});

test('one unavailable image fails the carousel by name, and a retry fetches it', async () => {
  const carousel = (path: string) => ({
    title: path,
    images: [{ sourceUrl: `${origin}/red` }, { sourceUrl: `${origin}${path}` }],
  });
  const { results, importId } = await importAll([carousel('/later'), carousel('/page')]);
  const [later, page] = results.map(({ item }: { item: { id: string } }) => item.id);
  const missing = await settledItem(service, later, 'error');
  assert.equal(missing.errorReason.code, 'SOURCE_UNREACHABLE');
  assert.match(missing.errorReason.message, /^Image 2: The source responded with status 404/);
  const noImage = await settledItem(service, page, 'error');
  assert.equal(noImage.errorReason.code, 'UNSUPPORTED_MEDIA');
  assert.match(noImage.errorReason.message, /^Image 2: /);
  const event = await finishedEvent(importId);
  assert.deepEqual([event.readyItems, event.failedItems], [0, 2]);
  assert.deepEqual(event.items[0].error, missing.errorReason);
  isBack = true;
  assert.equal((await service.call('POST', `/v1/content/${later}/retry`)).status, 200);
  const ready = await settledItem(service, later, 'ready');
  assert.equal(ready.images.length, 2);
});

test('an object of an allowed bucket is fetched with the credentials of the service; no other is', async () => {
  storeInBucket('in/größer als/clip 1?.mp4', clip);
  storeInBucket('in/red', images['/red']);
  storeInBucket('secret/clip.mp4', clip);
  const { results, importId } = await importAll([
    { title: 'Private', sourceUrl: 's3://archive/in/größer als/clip 1?.mp4' },
    { title: 'Absent', sourceUrl: 's3://archive/in/nothing.mp4' },
    { title: 'Picture', images: [{ sourceUrl: 's3://archive/in/red' }] },
    { title: 'Elsewhere', sourceUrl: 's3://archive/secret/clip.mp4' },
    { title: 'Near', sourceUrl: 's3://archive/in-secret/clip.mp4' },
    { title: 'Other', sourceUrl: 's3://other/in/clip.mp4' },
    { title: 'Nothing', sourceUrl: 's3://archive' },
  ]);
  assert.deepEqual(
    results.map(({ status }: { status: string }) => status),
    ['created', 'created', 'created', 'failed', 'failed', 'failed', 'failed'],
  );
  assert.match(results[3].error.message, /REELFEED_IMPORT_BUCKETS/);
  const id = (index: number) => results[index].item.id;
  const absent = await settledItem(service, id(1), 'error');
  assert.equal(absent.errorReason.message, 'The source does not exist in its bucket.');
  await settledItem(service, id(2), 'ready');
  const ready = await settledItem(service, id(0), 'ready');
  assert.ok(ready.duration > 0);
  const event = await finishedEvent(importId);
  assert.deepEqual([event.totalItems, event.readyItems, event.failedItems], [3, 2, 1]);
});

test('an item names either a source or images, and fails individually if it does not fit', async () => {
  const image = { sourceUrl: `${origin}/red` };
  const { results, importId } = await importAll([
    { title: 'Both', sourceUrl: `${origin}/red`, images: [image] },
    { title: 'Neither' },
    { title: 'Wrong type', contentType: 'video', images: [image] },
    { title: 'No images', contentType: 'carousel', sourceUrl: `${origin}/red` },
    { title: 'Too many', images: Array.from({ length: 11 }, () => image) },
    { title: 'None', images: [] },
    { title: 'Quality', images: [image], videoQuality: 'plus' },
    { title: 'Interval', sourceUrl: `${origin}/red`, autoScrollInterval: 3 },
    { title: 'Inward', images: [image, { sourceUrl: 'http://10.0.0.1/a.png' }] },
  ]);
  assert.equal(importId, null);
  const told = [
    /images: cannot be combined with sourceUrl/,
    /sourceUrl: or images is required/,
    /contentType: must be carousel/,
    /contentType: must be video/,
    /images/,
    /images/,
    /videoQuality: is allowed only for videos/,
    /autoScrollInterval: is allowed only for image carousels/,
    /images\[1\]\.sourceUrl: /,
  ];
  for (const [index, pattern] of told.entries()) {
    const { status, error } = results[index];
    assert.deepEqual([status, error.code], ['failed', 'VALIDATION_ERROR']);
    assert.match(error.message, pattern);
  }
});
