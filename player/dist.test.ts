/** Proves that what is committed, served and published is the build of these sources, and small. */
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { newerNamesIn, newerStylesIn } from '../client/newer-names.ts';
import { bundlePlayer } from './build.ts';

const committed = (name: string) => readFileSync(new URL(`dist/${name}`, import.meta.url));

test('the built files are of these sources; build them by `npm run build:player`', async () => {
  const built = await bundlePlayer();
  assert.equal(built.size, 3);
  for (const [name, contents] of built) {
    assert.deepEqual(committed(name), Buffer.from(contents), name);
    assert.deepEqual(brotliDecompressSync(committed(`${name}.br`)), committed(name));
    assert.deepEqual(gunzipSync(committed(`${name}.gz`)), committed(name));
  }
});

test('it uses nothing that Safari 15 or Chrome 100 lack', async () => {
  assert.deepEqual(await newerNamesIn(committed('reelfeed-feed.js').toString()), []);
  assert.deepEqual(newerStylesIn(committed('reelfeed-feed.css').toString()), []);
});

test('the element has at most 40 kB, compressed, beside hls.js', () => {
  const bytes = committed('reelfeed-feed.js.gz').length;
  assert.ok(bytes <= 40_000, `${bytes} bytes`);
});

test('it can be imported where there is no browser, as frameworks do that render on a server', async () => {
  const module: Record<string, unknown> = await import('./dist/reelfeed-feed.js');
  assert.equal(typeof module['ReelfeedFeed'], 'function');
});
