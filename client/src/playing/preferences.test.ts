/**
 * Tests which sound, volume and caption preferences are remembered, no matter what the storage
 * contains.
 */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { Preferences } from './preferences.ts';

function memory(kept: Record<string, string> = {}) {
  return {
    read: (name: string) => kept[name] ?? null,
    write: (name: string, value: string) => void (kept[name] = value),
    remove: (name: string) => void delete kept[name],
  };
}

test('a new viewer has no sound, full volume and no captions', () => {
  const { hasSound, volume, hasCaptions } = new Preferences(memory());
  assert.deepEqual([hasSound, volume, hasCaptions], [false, 1, false]);
});

test('choices are restored at the next visit', () => {
  const store = memory();
  const preferences = new Preferences(store);
  preferences.hasSound = true;
  preferences.volume = 0.25;
  preferences.hasCaptions = true;
  const next = new Preferences(store);
  assert.deepEqual([next.hasSound, next.volume, next.hasCaptions], [true, 0.25, true]);
  next.hasSound = false;
  next.volume = 0;
  next.hasCaptions = false;
  assert.deepEqual(
    [preferences.hasSound, preferences.volume, preferences.hasCaptions],
    [false, 0, false],
  );
});

test('an invalid volume means full volume', () => {
  for (const volume of ['loud', '-0.1', '1.1', 'NaN']) {
    assert.equal(new Preferences(memory({ volume })).volume, 1, volume);
  }
});
