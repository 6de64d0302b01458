import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { lineBps, rememberLine, startLevel } from './line.ts';
import { type Store } from '@reelfeed/client/playing';

function memory(): Store {
  const kept = new Map<string, string>();
  return {
    read: (name) => kept.get(name) ?? null,
    write: (name, value) => void kept.set(name, value),
    remove: (name) => void kept.delete(name),
  };
}

const file = (name: string, transferSize: number, responseStart: number, responseEnd: number) => ({
  name: `https://video.example.com/player/${name}`,
  transferSize,
  responseStart,
  responseEnd,
});

test('a browser that reports a slow connection, or saves data, decides', () => {
  const said = (connection: object) => lineBps({ connection }, [], memory(), 0);
  assert.equal(said({ effectiveType: '3g', downlink: 1 }), 700_000);
  assert.equal(said({ effectiveType: 'slow-2g', downlink: 0 }), 150_000);
  assert.equal(said({ effectiveType: '4g', downlink: 10, saveData: true }), 200_000);
  assert.equal(said({ effectiveType: '4g', downlink: 10 }), null);
  assert.equal(lineBps({}, [], memory(), 0), null);
});

test('the player’s own files measure the connection, and simultaneous ones count as one', () => {
  const files = [
    file('hls-ABC.js', 100_000, 200, 800),
    file('reelfeed-feed.js?v=1', 30_000, 150, 400),
    file('other.js', 9_000_000, 0, 1),
  ];
  assert.equal(lineBps({}, files, memory(), 0), 1_600_000);
  const cached = files.map((one) => ({ ...one, transferSize: 300 }));
  assert.equal(lineBps({}, cached, memory(), 0), null);
  const slow = { connection: { effectiveType: '3g', downlink: 1 } };
  assert.equal(lineBps(slow, files, memory(), 0), 700_000);
});

test('measurements from the last visit are valid for half a day', () => {
  const store = memory();
  rememberLine(store, 2_000_000.4, 1_000);
  assert.equal(lineBps({}, [], store, 60_000), 2_000_000);
  assert.equal(lineBps({}, [], store, 13 * 3_600_000), null);
  store.write('line', 'broken');
  assert.equal(lineBps({}, [], store, 0), null);
});

test('the first segment comes at once, and none is better than the first of the playlist', () => {
  const bitrates = [300_000, 800_000, 1_600_000, 2_800_000, 4_800_000];
  assert.equal(startLevel(bitrates, 3, 100_000), 0);
  assert.equal(startLevel(bitrates, 3, 1_600_000), 0);
  assert.equal(startLevel(bitrates, 3, 3_000_000), 1);
  assert.equal(startLevel(bitrates, 3, 100_000_000), 3);
});
