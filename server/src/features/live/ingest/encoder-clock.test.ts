/** Proves the numbered invariants of `encoder-clock.ts`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EncoderClock, maxStepMs } from './encoder-clock.ts';

const second = 1_000;
const hour = 3_600 * second;

test('times follow timestamps, through the end of their 32 bits', () => {
  const start = 2 ** 32 - 40;
  const clock = new EncoderClock(start, 5_000);
  assert.deepEqual(
    [0, 40, 80].map((ms) => clock.timeOf('video', (start + ms) >>> 0)),
    [5_000, 5_040, 5_080],
  );
  assert.equal(clock.jumps, 0);
});

for (const jumpMs of [2 * hour, 30 * second, 1_100, -1_100, -2 * hour]) {
  test(`a jump of ${jumpMs} ms adds one picture, and keeps sound with its pictures`, () => {
    const clock = new EncoderClock(0, 0);
    clock.timeOf('video', 8 * hour);
    clock.timeOf('audio', 8 * hour + 10);
    const before = clock.timeOf('video', 8 * hour + 40);
    const after = clock.timeOf('video', 8 * hour + 80 + jumpMs);
    assert.equal(after - before, 33);
    assert.equal(clock.timeOf('audio', 8 * hour + 90 + jumpMs) - after, 10);
    assert.equal(clock.jumps, 1);
  });
}

test('pictures that are far apart are not a jump while there is sound between them', () => {
  const clock = new EncoderClock(0, 0);
  clock.timeOf('video', 0);
  for (let ms = 0; ms < 4_000; ms += 20) clock.timeOf('audio', ms);
  assert.equal(clock.timeOf('video', 4_000), 4_000);
  assert.equal(clock.jumps, 0);
});

test('whatever the timestamps are, times make no step of more than a second', () => {
  const message = fc.record({
    track: fc.constantFrom('video' as const, 'audio' as const),
    timestamp: fc.oneof(fc.nat(5_000), fc.integer({ min: 0, max: 2 ** 32 - 1 })),
  });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 60 }), (messages) => {
      const first = messages[0]?.timestamp ?? 0;
      const clock = new EncoderClock(first, 7);
      const latest = new Map<string, number>();
      for (const { track, timestamp } of messages) {
        const ms = clock.timeOf(track, timestamp);
        const near = [...latest.values()].some((one) => Math.abs(ms - one) <= maxStepMs);
        assert.ok(latest.size === 0 || near, `${ms} after ${[...latest.values()].join(', ')}`);
        latest.set(track, ms);
      }
    }),
  );
});
