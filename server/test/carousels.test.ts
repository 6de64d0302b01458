/** Proves image and video carousels: their lifecycle, their place in the feed, invalid input. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import sharp from 'sharp';
import { openDatabase } from '../src/platform/database/database.ts';
import { openDiskStorage } from '../src/platform/storage/disk-storage.ts';
import { heicBytes } from '../src/features/media/testing/heic.ts';
import { purgeDeleted } from '../src/features/purges/purges.ts';
import path from 'node:path';
import {
  addImage,
  createCarousel,
  createVideoCarousel,
  imageBytes,
  type Entry,
} from './carousels.ts';
import { silentLog } from './database.ts';
import { form, local } from './media.ts';
import { assertConforms, lenientAjv, readDescription } from './openapi.ts';
import { createItem, createOrganization, createReadyItems, query } from './seed.ts';
import { eventually, startService, type Reply } from './service.ts';

const service = await startService({ REELFEED_ROLES: 'api,worker' });

const get = async (id: string) => (await service.call('GET', `/v1/content/${id}`)).body.data;
const patch = (id: string, body: object) => service.call('PATCH', `/v1/content/${id}`, { body });

/** A section's feed items by id. */
async function feed(section: string) {
  const { body } = await service.call('GET', `/v1/feed?section=${section}&limit=50`);
  return body.data as { id: string; videos?: { id: string }[]; images: { id: string }[] }[];
}

function assertCode(reply: Reply, status: number, code: string): void {
  assert.equal(reply.status, status, reply.text);
  assert.equal(reply.body.error.code, code);
}

const sendImage = (id: string, bytes: Buffer, fields: [string, string][] = []) =>
  service.call('POST', `/v1/content/${id}/images`, { body: form([['file', bytes], ...fields]) });

describe('image carousels', () => {
  test('lifecycle: not in the feed until it has an image, order, alt text, removal', async () => {
    const made = await createCarousel(service, 'carousel', {
      section: 'pictures',
      autoScrollInterval: 4,
    });
    assert.equal(made.uploadStatus, 'ready');
    assert.equal(made.publishStatus, 'published');
    assert.equal(made.autoScrollInterval, 4);
    assert.deepEqual([made.streamingUrl, made.duration, made.images], [null, null, []]);
    assert.deepEqual(await feed('pictures'), []);

    const first = await addImage(service, made.id, { altText: 'A red field', format: 'jpeg' });
    const second = await addImage(service, made.id, { format: 'webp', color: '#3030d0' });
    assert.deepEqual([first.position, first.altText], [0, 'A red field']);
    assert.deepEqual([second.position, second.altText], [1, null]);
    const [shown] = await feed('pictures');
    assert.deepEqual(
      shown?.images.map(({ id }) => id),
      [first.id, second.id],
    );
    const item = await get(made.id);
    assert.deepEqual(item.images, [first, second]);
    assert.equal(item.thumbnailUrl, first.imageUrl.replace('large.jpg', 'small.jpg'));
    for (const url of [first.imageUrl, item.thumbnailUrl]) {
      const answer = await fetch(local(service, url));
      assert.equal(answer.headers.get('content-type'), 'image/jpeg');
      assert.equal((await sharp(Buffer.from(await answer.arrayBuffer())).metadata()).width, 64);
    }

    const order = await service.call('PUT', `/v1/content/${made.id}/images/order`, {
      body: { imageIds: [second.id, first.id] },
    });
    assert.deepEqual(
      order.body.data.map((image: Entry) => [image.id, image.position]),
      [
        [second.id, 0],
        [first.id, 1],
      ],
    );
    assert.match((await get(made.id)).thumbnailUrl, new RegExp(second.id));

    const removed = await service.call('DELETE', `/v1/content/${made.id}/images/${second.id}`);
    assert.deepEqual(removed.body.data, { id: second.id, deleted: true });
    const rest = (await get(made.id)).images;
    assert.deepEqual([rest.length, rest[0].id, rest[0].position], [1, first.id, 0]);
    await eventually('the files of the removed image to go', async () =>
      (await fetch(local(service, second.imageUrl))).status === 404 ? true : null,
    );
    await service.call('DELETE', `/v1/content/${made.id}/images/${first.id}`);
    assert.deepEqual(await feed('pictures'), [], 'empty again');
    assertCode(
      await service.call('DELETE', `/v1/content/${made.id}/images/${first.id}`),
      404,
      'NOT_FOUND',
    );
  });

  test('a photograph is rotated upright, scaled, and stripped of all metadata', async () => {
    const photograph = await sharp({
      create: { width: 3000, height: 2000, channels: 3, background: '#808080' },
    })
      .withExif({ IFD0: { Copyright: 'secret place', ImageDescription: 'N 52.5 E 13.4' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const { id } = await createCarousel(service, 'carousel');
    const stored = await sendImage(id, photograph);
    assert.equal(stored.status, 201, stored.text);
    const answer = await fetch(local(service, stored.body.data.imageUrl));
    const bytes = Buffer.from(await answer.arrayBuffer());
    const { width, height, exif, orientation } = await sharp(bytes).metadata();
    assert.deepEqual([width, height, exif, orientation], [1440, 2160, undefined, undefined]);
    assert.ok(!bytes.includes('secret place'));
    const heic = await heicBytes({ tiles: [['red', 'blue']], width: 250, quarterTurnsLeft: 1 });
    const tiled = await sendImage(id, heic);
    assert.equal(tiled.status, 201, tiled.text);
    const turned = await fetch(local(service, tiled.body.data.imageUrl));
    const size = await sharp(Buffer.from(await turned.arrayBuffer())).metadata();
    assert.deepEqual([size.format, size.width, size.height], ['jpeg', 128, 250]);
  });

  test('everything that is not an acceptable image is rejected and leaves nothing', async () => {
    const { id } = await createCarousel(service, 'carousel');
    const png = await imageBytes();
    const flood = Buffer.from(png);
    // The PNG header: width, height, and the chunk's checksum.
    flood.writeUInt32BE(60_000, 16);
    flood.writeUInt32BE(60_000, 20);
    const { crc32 } = await import('node:zlib');
    flood.writeUInt32BE(crc32(flood.subarray(12, 29)), 29);
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>');
    const cases: [string, Buffer][] = [
      ['an SVG', svg],
      ['HTML', Buffer.from('<!doctype html><script>alert(1)</script>')],
      ['a GIF', Buffer.from('GIF89a')],
      ['nothing', Buffer.alloc(0)],
      ['a video', Buffer.from('0000001866747970', 'hex')],
      ['60,000 x 60,000 pixels', flood],
      ['a cut PNG', png.subarray(0, 60)],
      ['a cut HEIC', (await heicBytes({ tiles: [['red']] })).subarray(0, -9)],
      [
        '60,000 x 60,000 pixels of HEIC',
        await heicBytes({ tiles: [['red']], claimedSize: [6e4, 6e4] }),
      ],
      ['only the first bytes of a JPEG', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16])],
    ];
    for (const [name, bytes] of cases) {
      const reply = await sendImage(id, bytes);
      assert.equal(reply.status, 422, `${name}: ${reply.text}`);
      assert.equal(reply.body.error.code, 'INVALID_MEDIA', name);
    }
    const large = Buffer.concat([png, Buffer.alloc(10 * 1024 * 1024)]);
    assertCode(await sendImage(id, large), 413, 'PAYLOAD_TOO_LARGE');
    assertCode(await sendImage(id, png, [['caption', 'x']]), 400, 'VALIDATION_ERROR');
    assertCode(await sendImage(id, png, [['altText', 'x'.repeat(1001)]]), 400, 'VALIDATION_ERROR');
    const json = await service.call('POST', `/v1/content/${id}/images`, { body: { file: 'x' } });
    assertCode(json, 415, 'UNSUPPORTED_MEDIA_TYPE');
    assert.deepEqual((await get(id)).images, []);
  });

  test('bytes after an image do not reach viewers', async () => {
    const { id } = await createCarousel(service, 'carousel');
    const polyglot = Buffer.concat([await imageBytes({ format: 'jpeg' }), Buffer.from('<script>')]);
    const { body } = await sendImage(id, polyglot);
    const answer = await fetch(local(service, body.data.imageUrl));
    assert.ok(!Buffer.from(await answer.arrayBuffer()).includes('<script>'));
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  });

  test('ten of twelve concurrent images are accepted', async () => {
    const { id } = await createCarousel(service, 'carousel');
    const png = await imageBytes({ width: 4, height: 4 });
    for (let sent = 0; sent < 8; sent += 1) assert.equal((await sendImage(id, png)).status, 201);
    const replies = await Promise.all(Array.from({ length: 4 }, () => sendImage(id, png)));
    const refused = replies.filter(({ status }) => status !== 201);
    assert.equal(refused.length, 2);
    for (const reply of refused) assertCode(reply, 400, 'LIMIT_EXCEEDED');
    const positions = (await get(id)).images.map((image: Entry) => image.position);
    assert.deepEqual(positions, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test('a repeat with the same Idempotency-Key adds no second image', async () => {
    const { id } = await createCarousel(service, 'carousel');
    const png = await imageBytes();
    const send = () =>
      service.call('POST', `/v1/content/${id}/images`, {
        body: form([['file', png]]),
        headers: { 'idempotency-key': 'one image' },
      });
    const [first, second] = [await send(), await send()];
    assert.equal(second.headers.get('idempotent-replayed'), 'true');
    assert.deepEqual(second.body.data, first.body.data);
    assert.equal((await get(id)).images.length, 1);
  });

  test('nothing of a protected carousel is accessible without a token', async () => {
    const made = await createCarousel(service, 'carousel', { protected: true, section: 'guarded' });
    const image = await addImage(service, made.id);
    assert.equal(image.imageUrl, '');
    const item = await get(made.id);
    assert.deepEqual([item.thumbnailUrl, item.images[0].imageUrl], [null, '']);
    const { body } = await service.call('POST', `/v1/content/${made.id}/playback-token`, {
      key: service.publishableKey,
    });
    const { images, thumbnailUrl, streamingUrl } = body.data;
    assert.equal(streamingUrl, null);
    for (const url of [images[0].imageUrl, thumbnailUrl]) {
      assert.equal((await fetch(local(service, url))).status, 200);
      const bare = url.replace(/\/t\/[^/]+/, '');
      assert.equal((await fetch(local(service, bare))).status, 403);
    }
  });
});

describe('video carousels', () => {
  test('lifecycle: entries, order, removal, and complete videos in the feed', async () => {
    const [id, entries] = await createVideoCarousel(service, 3, {
      section: 'videos',
      articleUrl: 'https://a.example/story',
    });
    assert.deepEqual(
      entries.map(({ position }) => position),
      [0, 1, 2],
    );
    const [a, b, c] = entries as [Entry, Entry, Entry];
    const shown = async () =>
      (await feed('videos')).find((item) => item.id === id)?.videos?.map((video) => video.id);
    assert.deepEqual(await shown(), [a.contentId, b.contentId, c.contentId]);

    const order = { entryIds: [c.id, a.id, b.id] };
    const ordered = await service.call('PUT', `/v1/content/${id}/videos/order`, { body: order });
    assert.deepEqual(
      ordered.body.data.map((entry: Entry) => entry.id),
      order.entryIds,
    );
    assert.deepEqual(await shown(), [c.contentId, a.contentId, b.contentId]);

    const [extra = ''] = await createReadyItems(service, 1);
    const added = await service.call('POST', `/v1/content/${id}/videos`, {
      body: { videos: [{ contentId: extra, position: 1 }] },
    });
    assert.deepEqual(
      added.body.data.map((entry: Entry) => entry.contentId),
      [c.contentId, extra, a.contentId, b.contentId],
    );
    await service.call('DELETE', `/v1/content/${id}/videos/${c.id}`);
    const rest = (await service.call('GET', `/v1/content/${id}/videos`)).body.data;
    assert.deepEqual(
      rest.map((entry: Entry) => [entry.contentId, entry.position]),
      [
        [extra, 0],
        [a.contentId, 1],
        [b.contentId, 2],
      ],
    );
    const [item] = await feed('videos');
    assert.equal(Object.keys(item?.videos?.[0] ?? {}).includes('streamingUrl'), true);
  });

  test('each video in the feed has every item field, including counts, as described', async () => {
    const api = await readDescription(service.url);
    const declared = api.paths['/v1/feed'].get.responses['200'];
    const section = 'described';
    const [single] = await createReadyItems(service, 1, () => ({ section }));
    const [alone, [member]] = await createVideoCarousel(service, 2, { section });
    const shared = await createCarousel(service, 'video_carousel', { section });
    await service.call('POST', `/v1/content/${shared.id}/videos`, {
      body: { contentIds: [single, member?.contentId] },
    });
    const pictures = await createCarousel(service, 'carousel', { section });
    await addImage(service, pictures.id);
    await patch(member?.contentId ?? '', { protected: true, customMetadata: { videos: 'a' } });
    const event = { event: 'like', contentId: member?.contentId, deviceId: 'a-device' };
    await service.call('POST', '/v1/events', { body: event });
    const ajv = lenientAjv();
    const read = async (path: string) => {
      const reply = await service.call('GET', path);
      assert.equal(reply.status, 200, reply.text);
      assertConforms(ajv, declared, reply, path);
      return reply.body.data;
    };
    await eventually('the like to be counted', async () => {
      const items = await read(`/v1/feed?section=${section}&explain=true`);
      assert.equal(items.length, 4);
      const found = items.find(({ id }: { id: string }) => id === alone);
      assert.equal(found.videos[0].id, member?.contentId);
      return found.videos[0].engagement.likes === 1 ? true : null;
    });
    for (const limit of [1, 2, 3]) await read(`/v1/feed?section=${section}&limit=${limit}`);
    await read('/v1/feed?contentType=video_carousel');
    await read('/v1/feed?contentType=carousel');
  });

  test('an ineligible video is left out, and so is the carousel when none remains', async () => {
    const [id, entries] = await createVideoCarousel(service, 4, { section: 'leaving' });
    const videos = entries.map(({ contentId }) => contentId) as [string, string, string, string];
    const shown = async () => (await feed('leaving'))[0]?.videos?.map((video) => video.id) ?? [];
    assert.deepEqual(await shown(), videos);
    await patch(videos[0], { publishStatus: 'unpublished' });
    assert.deepEqual(await shown(), videos.slice(1));
    await service.call('DELETE', `/v1/content/${videos[1]}`);
    assert.deepEqual(await shown(), videos.slice(2));
    await patch(videos[2], { visibility: 'private' });
    await patch(videos[3], { expiresAt: new Date(Date.now() + 1_500).toISOString() });
    assert.deepEqual(await shown(), [videos[3]]);
    await eventually('the carousel to leave with its last video', async () =>
      (await feed('leaving')).length === 0 ? true : null,
    );
    await patch(videos[0], { publishStatus: 'published' });
    assert.deepEqual(await shown(), [videos[0]], 'it comes back with a video');
    assert.equal((await get(id)).uploadStatus, 'ready');
  });

  test('an empty one is not in the feed; a permanently deleted video leaves its carousel', async () => {
    const empty = await createCarousel(service, 'video_carousel', { section: 'empty' });
    assert.deepEqual(await feed('empty'), []);
    const [extra = ''] = await createReadyItems(service, 1);
    await service.call('POST', `/v1/content/${empty.id}/videos`, { body: { contentIds: [extra] } });
    assert.equal((await feed('empty')).length, 1);
    const before = await service.call('GET', `/v1/content/${empty.id}`);
    await query(service, 'delete from bulk_allowance');
    await service.call('POST', '/v1/content/bulk/delete', { body: { ids: [extra] } });
    assert.deepEqual(await feed('empty'), []);
    assert.deepEqual((await service.call('GET', `/v1/content/${empty.id}/videos`)).body.data, []);
    const after = await service.call('GET', `/v1/content/${empty.id}`);
    assert.notEqual(after.headers.get('etag'), before.headers.get('etag'));
  });

  test('bad entries are rejected by name and change nothing', async () => {
    const [id, entries] = await createVideoCarousel(service, 2);
    const [ready = '', gone = ''] = await createReadyItems(service, 2);
    const pending = (await createItem(service)).id;
    await service.call('DELETE', `/v1/content/${gone}`);
    const other = await createOrganization(service, 'Stranger');
    const foreign = await service.call('POST', '/v1/content/upload', {
      key: other.secretKey,
      body: { title: 'Theirs' },
    });
    const nested = await createCarousel(service, 'video_carousel');
    const add = (body: object) => service.call('POST', `/v1/content/${id}/videos`, { body });
    const cases: [string, string[], number, string][] = [
      ['the same video twice', [ready, ready], 400, 'VALIDATION_ERROR'],
      ['a video that is there', [entries[0]?.contentId ?? ''], 400, 'VALIDATION_ERROR'],
      ['a carousel', [nested.id], 400, 'VALIDATION_ERROR'],
      ['itself', [id], 400, 'VALIDATION_ERROR'],
      ['an archived video', [gone], 400, 'VALIDATION_ERROR'],
      ["another organization's", [foreign.body.data.id], 400, 'VALIDATION_ERROR'],
      ['no id at all', ['nothing'], 400, 'VALIDATION_ERROR'],
      ['an unready video', [pending], 409, 'CONTENT_NOT_READY'],
      ['eleven', Array.from({ length: 11 }, () => ready), 400, 'LIMIT_EXCEEDED'],
    ];
    for (const [name, contentIds, status, code] of cases) {
      const reply = await add({ contentIds });
      assert.deepEqual([reply.status, reply.body.error?.code], [status, code], name);
    }
    assertCode(await add({}), 400, 'INVALID_REQUEST');
    assertCode(
      await add({ contentIds: [ready], videos: [{ contentId: ready }] }),
      400,
      'VALIDATION_ERROR',
    );
    const ids = entries.map((entry) => entry.id) as [string, string];
    for (const entryIds of [[ids[0]], [ids[0], ids[0]], [...ids, ready], []]) {
      const reply = await service.call('PUT', `/v1/content/${id}/videos/order`, {
        body: { entryIds },
      });
      assertCode(reply, 400, 'VALIDATION_ERROR');
    }
    const video = await service.call('POST', `/v1/content/${ready}/videos`, {
      body: { contentIds: [entries[0]?.contentId] },
    });
    assertCode(video, 409, 'CONFLICT');
    assertCode(await patch(id, { autoScrollInterval: 3 }), 400, 'VALIDATION_ERROR');
    const kept = await service.call('GET', `/v1/content/${id}/videos`);
    assert.deepEqual(kept.body.data, entries);
  });

  test('concurrent additions and reorderings end in one order with at most ten entries', async () => {
    const { id } = await createCarousel(service, 'video_carousel');
    const videos = await createReadyItems(service, 14);
    const replies = await Promise.all(
      videos.map((contentId) =>
        service.call('POST', `/v1/content/${id}/videos`, {
          body: { videos: [{ contentId, position: 0 }] },
        }),
      ),
    );
    assert.equal(replies.filter(({ status }) => status === 201).length, 10);
    const { body } = await service.call('GET', `/v1/content/${id}/videos`);
    assert.equal(new Set(body.data.map((entry: Entry) => entry.contentId)).size, 10);
    const ids: string[] = body.data.map((entry: Entry) => entry.id);
    const orders = [ids.toReversed(), ids.toSorted(), ids];
    await Promise.all(
      orders.map((entryIds) =>
        service.call('PUT', `/v1/content/${id}/videos/order`, { body: { entryIds } }),
      ),
    );
    const last = (await service.call('GET', `/v1/content/${id}/videos`)).body.data;
    const final = JSON.stringify(last.map((entry: Entry) => entry.id));
    assert.ok(
      orders.some((order) => JSON.stringify(order) === final),
      'one of the orders, whole',
    );
  });
});

test('permanently deleting a carousel deletes its images', async () => {
  const { id } = await createCarousel(service, 'carousel');
  const image = await addImage(service, id);
  await query(service, 'delete from bulk_allowance');
  await service.call('POST', '/v1/content/bulk/delete', { body: { ids: [id] } });
  assert.equal((await fetch(local(service, image.imageUrl))).status, 404);
  await using database = openDatabase({
    connection: service.connection,
    poolSize: 2,
    log: silentLog,
  });
  const storage = await openDiskStorage(path.join(service.dataDir, 'media'));
  const { db } = database;
  const parts = { db, storage, writers: () => [], minAgeMs: 0, steps: [], log: silentLog };
  await purgeDeleted(parts, new AbortController().signal);
  const [, playbackId = ''] = /\/media\/([^/]+)\//.exec(image.imageUrl) ?? [];
  const left = await Array.fromAsync(storage.list(`media/${playbackId}`));
  assert.deepEqual(left, []);
});
