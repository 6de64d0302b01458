/** Proves at compile time that the service's description matches the types of the library. */
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type components } from './api.generated.ts';
import { type FeedItem } from './types.ts';

type Described = components['schemas']['FeedItem'];
const asPromised = (item: Described): FeedItem => item;

test('an item of the feed, and a video in it, has every field that its type promises', () => {
  const file = new URL('../../docs/openapi.json', import.meta.url);
  const { schemas } = JSON.parse(readFileSync(file, 'utf8')).components;
  const { videos: _videos, ranking: _ranking, ...common } = schemas.FeedItem.properties;
  assert.deepEqual(Object.keys(schemas.FeedVideo.properties), Object.keys(common));
  assert.deepEqual(schemas.FeedVideo.required, schemas.FeedItem.required);
  assert.ok(schemas.FeedVideo.required.includes('engagement'));
  assert.equal(asPromised.length, 1);
});
