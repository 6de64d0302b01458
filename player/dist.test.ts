/** Proves that what is committed, served and published is the build of these sources, and small. */
import { strict as assert } from 'node:assert';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { newerNamesIn, newerStylesIn } from '../client/newer-names.ts';
import { bundlePlayer } from './build.ts';

const dist = new URL('dist/', import.meta.url);
const committed = (name: string) => readFileSync(new URL(name, dist));

test('the built files are of these sources; build them by `npm run build:player`', async () => {
  const built = await bundlePlayer();
  const scripts = [...built.keys()].map((name) => name.replace(/-[0-9A-Z]{8}\./, '.')).toSorted();
  assert.deepEqual(scripts, [
    'hls.js',
    'react.js',
    'reelfeed-feed.css',
    'reelfeed-feed.js',
    'reelfeed-menu.js',
    'reelfeed-shelf.css',
    'reelfeed-shelf.js',
    'vue.js',
  ]);
  for (const [name, contents] of built) {
    assert.deepEqual(committed(name), Buffer.from(contents), name);
    assert.deepEqual(brotliDecompressSync(committed(`${name}.br`)), committed(name));
    assert.deepEqual(gunzipSync(committed(`${name}.gz`)), committed(name));
  }
});

test('it uses nothing that Safari 15 or Chrome 100 lacks', async () => {
  const scripts = globSync('{reelfeed-*,react,vue}.js', { cwd: dist });
  assert.ok(scripts.length >= 5, scripts.join(' '));
  for (const name of scripts) {
    assert.deepEqual(await newerNamesIn(committed(name).toString()), [], name);
  }
  for (const name of ['reelfeed-feed.css', 'reelfeed-shelf.css']) {
    assert.deepEqual(newerStylesIn(committed(name).toString()), [], name);
  }
});

test('compressed, the feed has at most 40 kB beside hls.js, and the shelf 10 kB', () => {
  const bytesOf = (name: string) => committed(`${name}.js.gz`).length;
  assert.ok(bytesOf('reelfeed-feed') <= 40_000, `${bytesOf('reelfeed-feed')} bytes`);
  assert.ok(bytesOf('reelfeed-shelf') <= 10_000, `${bytesOf('reelfeed-shelf')} bytes`);
});

test('hls.js is loaded when needed, not with the element', () => {
  const code = committed('reelfeed-feed.js').toString();
  assert.match(code, /import\("\.\/hls-[0-9A-Z]{8}\.js"\)/);
  assert.doesNotMatch(code, /import\s*(?:[\w{}*,\s]+from\s*)?"/);
});

test('it can be imported without a browser, as server-rendering frameworks do', async () => {
  const module: Record<string, unknown> = await import(new URL('reelfeed-feed.js', dist).href);
  assert.equal(typeof module['ReelfeedFeed'], 'function');
  assert.equal(typeof module['ReelfeedPlayer'], 'function');
  const shelf: Record<string, unknown> = await import(new URL('reelfeed-shelf.js', dist).href);
  assert.equal(typeof shelf['ReelfeedShelf'], 'function');
});
