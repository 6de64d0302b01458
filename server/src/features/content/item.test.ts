/** Tests how an item's assets, progress and version are shown. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { coverOf, requirePicture } from './item-media/cover.ts';
import { itemRow, urls } from '../../../test/content/item-row.ts';
import {
  entityTag,
  matchesEntityTag,
  presentCaptions,
  presentImages,
  presentItem,
  presentPublicItem,
} from './item.ts';
import type { StoredAsset } from './tables.ts';

const createdAt = '2026-01-02T03:04:05.678Z';
const asset = (kind: StoredAsset['kind'], given: Partial<StoredAsset> = {}): StoredAsset => ({
  id: `${kind}-1`,
  kind,
  state: 'ready',
  position: 0,
  folder: null,
  metadata: {},
  createdAt,
  ...given,
});

test('the cover’s hash counts once the cover is ready', () => {
  const hashOf = (...assets: StoredAsset[]) =>
    presentItem(itemRow({ thumbnail_hash: 'own', assets }), urls).thumbnailHash;
  const cover = asset('cover', { metadata: { hash: 'chosen' } });
  assert.equal(hashOf(), 'own');
  assert.equal(hashOf(asset('image'), cover), 'chosen');
  assert.equal(hashOf({ ...cover, state: 'preparing' }), 'own');
  assert.equal(coverOf({ assets: [asset('image'), cover] }), cover);
  assert.equal(coverOf({ assets: [{ ...cover, state: 'preparing' }] }), null);
});

test('an error has a code and a message, and progress three decimals', () => {
  const of = (given: Parameters<typeof itemRow>[0]) => presentItem(itemRow(given), urls);
  assert.equal(of({}).errorReason, null);
  assert.deepEqual(of({ error_code: 'X', error_message: 'why' }).errorReason, {
    code: 'X',
    message: 'why',
  });
  assert.deepEqual(of({ error_code: 'X' }).errorReason, { code: 'X', message: '' });
  assert.equal(of({ progress: 2 / 3 }).progress, 0.667);
});

test('feeds show all of an item but what only its owners need', () => {
  const row = itemRow({ archived_at: new Date(createdAt) });
  const { sourceTracks, warnings, archivedAt, ...rest } = presentItem(row, urls);
  assert.deepEqual([sourceTracks, warnings, archivedAt], [[], [], createdAt]);
  assert.deepEqual(presentPublicItem(row, urls), rest);
});

test('images have their places and texts, captions a URL once they are ready', () => {
  const row = itemRow({
    assets: [
      asset('image', { id: 'a', position: 0, metadata: { altText: 'A cat' } }),
      asset('image', { id: 'b', position: 1 }),
      asset('caption', {
        id: 'c',
        metadata: { language: 'de', label: 'Deutsch', source: 'upload' },
      }),
      asset('caption', { id: 'd', state: 'preparing' }),
    ],
  });
  assert.deepEqual(presentImages(row, urls), [
    { id: 'a', imageUrl: '/a/large.jpg', altText: 'A cat', position: 0, createdAt },
    { id: 'b', imageUrl: '/b/large.jpg', altText: null, position: 1, createdAt },
  ]);
  const [ready, processing, ...others] = presentCaptions(row, urls);
  assert.deepEqual(others, []);
  assert.deepEqual(ready, {
    id: 'c',
    language: 'de',
    label: 'Deutsch',
    source: 'upload',
    url: '/c/captions.vtt',
    trackId: 'c',
    status: 'ready',
    createdAt,
  });
  assert.deepEqual([processing?.url, processing?.status], ['', 'preparing']);
});

test('If-Match names the current version, among others or by *', () => {
  const row = itemRow({ revision: 7 });
  assert.equal(entityTag(row), '"7"');
  const others = fc.array(fc.nat(6).map((revision) => `"${revision}"`));
  fc.assert(
    fc.property(others, others, fc.constantFrom('"7"', '*', null), (before, after, own) => {
      const header = [...before, ...(own === null ? [] : [own]), ...after].join(' , ');
      assert.equal(matchesEntityTag(header, row), own !== null);
    }),
  );
  assert.equal(matchesEntityTag('W/"7"', row), false, 'a weak validator');
});

test('only a ready video or stream can have another picture', () => {
  requirePicture(itemRow({}), 'cover');
  requirePicture(itemRow({ content_type: 'live_stream' }), 'cover');
  for (const content_type of ['carousel', 'video_carousel'] as const)
    assert.throws(() => requirePicture(itemRow({ content_type }), 'cover'), {
      code: 'VALIDATION_ERROR',
    });
  for (const upload_status of ['pending', 'processing', 'error'] as const)
    assert.throws(() => requirePicture(itemRow({ upload_status }), 'cover'), {
      code: 'CONTENT_NOT_READY',
    });
});
