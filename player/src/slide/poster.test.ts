import assert from 'node:assert/strict';
import { test } from 'node:test';
import { posterOf } from './poster.ts';

test('the poster is the largest WebP, or the smallest that is wide enough, or the one thumbnail there is', () => {
  const thumbnails = [
    { url: 'large.jpg', type: 'image/jpeg', width: 720 },
    { url: 'small.webp', type: 'image/webp', width: 270 },
    { url: 'large.webp', type: 'image/webp', width: 720 },
  ];
  assert.equal(posterOf({ thumbnailUrl: 'large.jpg', thumbnails }), 'large.webp');
  assert.equal(posterOf({ thumbnails }, 200), 'small.webp');
  assert.equal(posterOf({ thumbnails }, 400), 'large.webp');
  assert.equal(posterOf({ thumbnails }, 900), 'large.webp');
  assert.equal(posterOf({ thumbnailUrl: 'old.jpg', thumbnails: [] }), 'old.jpg');
  assert.equal(posterOf({ thumbnailUrl: 'own.jpg' }), 'own.jpg');
  assert.equal(posterOf({}), null);
});
