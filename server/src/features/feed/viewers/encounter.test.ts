/** Proves that an encounter is a function of the set of its events. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LoggedEvent } from '../../events/events.ts';
import {
  addEvent,
  emptyEncounter,
  likingOf,
  mergeEncounter,
  readEncounters,
  writeEncounters,
  type Encounter,
} from './encounter.ts';

const start = Date.UTC(2026, 10, 1);
const event = (kind: string, atSecond: number, data: object = {}, country = 'DE') =>
  ({
    eventId: `${kind}-${atSecond}`,
    event: kind,
    contentId: 'c',
    at: start + atSecond * 1_000,
    userId: 'ada',
    country,
    data,
  }) as unknown as LoggedEvent;

const collect = (events: readonly LoggedEvent[]): Encounter => {
  const encounter = emptyEncounter();
  for (const one of events) addEvent(encounter, one);
  return encounter;
};

const story = [
  event('impression', 0, { position: 0, visibleSeconds: 2 }),
  event('playStart', 1, { startupTime: 80 }),
  event('watchProgress', 5, { currentTime: 4, duration: 10 }),
  event('watchProgress', 8, { currentTime: 7, duration: 10 }),
  event('like', 9),
  event('unlike', 12, {}, 'FR'),
  event('like', 11),
  event('save', 13),
  event('swipe', 14, { fromContentId: 'c', watchTimeOnFrom: 9 }),
];

test('order, repetition and the division into passes make no difference', () => {
  const expected = collect(story);
  const orders = fc.shuffledSubarray(story, { minLength: story.length });
  const places = fc.nat(story.length);
  fc.assert(
    fc.property(orders, places, fc.subarray(story), (shuffled, cut, repeated) => {
      const merged = collect([...shuffled.slice(0, cut), ...repeated]);
      mergeEncounter(merged, collect(shuffled.slice(cut)));
      mergeEncounter(merged, collect(shuffled.slice(cut)));
      assert.deepEqual(merged, expected);
    }),
    { numRuns: 100 },
  );
});

test('liking follows from what a viewer does', () => {
  const quick = event('swipe', 3, { fromContentId: 'c', watchTimeOnFrom: 0.8 });
  const half = event('watchProgress', 2, { currentTime: 5, duration: 10 });
  const completion = event('completion', 9, { watchTime: 10, looped: false });
  const cases: [LoggedEvent[], number][] = [
    [[], 0],
    [[event('impression', 0, { position: 0 })], 0],
    [[event('playStart', 0, { startupTime: 1 })], 0],
    [[event('playStart', 0, { startupTime: 1 }), quick], -0.7],
    [[event('swipe', 3, { fromContentId: 'c', watchTimeOnFrom: 4 })], -0.4],
    [[half, event('swipe', 6, { fromContentId: 'c', watchTimeOnFrom: 6 })], 0.5],
    [[half], 0.5],
    [[half, completion], 1],
    [[completion, quick], 1],
    [[completion, event('like', 4)], 3],
    [[event('like', 4), event('unlike', 5)], 0],
    [[event('unlike', 5), event('like', 6)], 2],
    [[event('save', 4), event('share', 5, { platform: 'x' })], 5],
  ];
  for (const [events, liking] of cases) assert.equal(likingOf(collect(events)), liking);
});

test('seen means a play, or an impression of over a second', () => {
  const seen = (one: LoggedEvent) => collect([one]).seenSecond > 0;
  assert.equal(seen(event('impression', 1, { position: 0 })), false);
  assert.equal(seen(event('impression', 1, { position: 0, visibleSeconds: 1 })), false);
  assert.equal(seen(event('impression', 1, { position: 0, visibleSeconds: 1.01 })), true);
  assert.equal(seen(event('playStart', 1, { startupTime: 1 })), true);
  assert.equal(seen(event('like', 1)), false);
});

test('bytes represent an encounter, and several with one item are merged', () => {
  const whole = collect(story);
  const parts = [story.slice(0, 4), story.slice(4)].map(collect);
  const bytes = writeEncounters([
    ...parts.map((part) => [2 ** 40 + 1, part] as const),
    [7, collect([event('share', 3)])] as const,
  ]);
  const read = readEncounters(bytes);
  assert.deepEqual(read.get(2 ** 40 + 1), whole);
  assert.equal(read.size, 2);
  const wild = collect([
    { ...event('like', 0), at: 1e16 },
    { ...event('save', 0), at: -5 },
  ]);
  assert.deepEqual(readEncounters(writeEncounters([[1, wild]])).get(1), wild);
});
