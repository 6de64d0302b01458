/** Tests when looks are scheduled: whole days, time zones, and changed ends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dayMs } from '../../platform/values/time.ts';
import { clockOf } from '../../platform/values/zone-clock.ts';
import { lookDueAt, looksOf, midnightsBetween, type LookSchedule } from './looks.ts';
import { boundariesOf } from './statistics/group-sequential.ts';
import { createRandom } from '../../../test/simulation/random.ts';

const at = (text: string) => Date.parse(text);
const scheduleOf = (
  start: string,
  end: string,
  change: Partial<LookSchedule> = {},
): LookSchedule => ({
  clock: clockOf('UTC'),
  startMs: at(start),
  endMs: at(end),
  minimumDays: 7,
  earlierEnds: [],
  ...change,
});
const timesOf = (schedule: LookSchedule) =>
  looksOf(schedule).map(({ atMs }) => new Date(atMs).toISOString());

test('a week that starts seconds late has seven whole days, and six days have six', () => {
  const days = (from: string, to: string, zone = 'UTC') =>
    midnightsBetween(clockOf(zone), at(from), at(to));
  assert.equal(days('2026-03-02T00:00:05Z', '2026-03-09T00:00:00Z'), 7);
  assert.equal(days('2026-03-02T00:00:00Z', '2026-03-09T00:00:00Z'), 7);
  assert.equal(days('2026-03-02T15:00:00Z', '2026-03-08T23:59:59Z'), 6);
  // A week in which clocks go forward is an hour shorter.
  assert.equal(days('2026-03-22T23:00:00Z', '2026-03-29T22:00:00Z', 'Europe/Berlin'), 7);
  assert.equal(days('2026-03-02T00:00:05Z', '2026-03-09T00:00:00Z', 'America/New_York'), 7);
});

test('looks are at local midnights from the minimum runtime on, and at the end', () => {
  assert.deepEqual(timesOf(scheduleOf('2026-03-02T09:00:00Z', '2026-03-11T12:00:00Z')), [
    '2026-03-09T00:00:00.000Z',
    '2026-03-10T00:00:00.000Z',
    '2026-03-11T00:00:00.000Z',
    '2026-03-11T12:00:00.000Z',
  ]);
  const berlin = { clock: clockOf('Europe/Berlin') };
  assert.deepEqual(timesOf(scheduleOf('2026-03-21T09:00:00Z', '2026-03-30T12:00:00Z', berlin)), [
    '2026-03-27T23:00:00.000Z',
    '2026-03-28T23:00:00.000Z',
    '2026-03-29T22:00:00.000Z',
    '2026-03-30T12:00:00.000Z',
  ]);
  // An end at midnight is one look, not two.
  assert.deepEqual(timesOf(scheduleOf('2026-03-02T00:00:05Z', '2026-03-09T00:00:00Z')), [
    '2026-03-09T00:00:00.000Z',
  ]);
  const long = looksOf(scheduleOf('2026-01-01T00:00:00Z', '2026-12-31T00:00:00Z'));
  assert.ok(long.length <= 30 && long.at(-1)?.time === 1);
});

test('no look is due before the first', () => {
  const looks = looksOf(scheduleOf('2026-03-02T09:00:00Z', '2026-03-11T12:00:00Z'));
  assert.equal(lookDueAt(looks, at('2026-03-08T23:59:59Z')), -1);
  assert.equal(lookDueAt(looks, at('2026-03-09T00:00:00Z')), 0);
  assert.equal(lookDueAt(looks, at('2027-01-01T00:00:00Z')), 3);
});

test('looks taken before the end was moved keep what they spent, and all looks together spend alpha', () => {
  const schedule = scheduleOf('2026-03-02T00:00:00Z', '2026-03-30T00:00:00Z', {
    earlierEnds: [{ endMs: at('2026-03-12T00:00:00Z'), movedAtMs: at('2026-03-10T13:00:00Z') }],
  });
  const looks = looksOf(schedule);
  const before = looksOf({ ...schedule, endMs: at('2026-03-12T00:00:00Z'), earlierEnds: [] });
  assert.deepEqual(
    looks.slice(0, 2).map(({ atMs, spentTime }) => [atMs, spentTime]),
    before.slice(0, 2).map(({ atMs, spentTime }) => [atMs, spentTime]),
  );
  // Alpha for eight of ten days is spent, so no look follows until 22.4 of 28 days.
  assert.deepEqual(timesOf(schedule).slice(2, 4), [
    '2026-03-25T00:00:00.000Z',
    '2026-03-26T00:00:00.000Z',
  ]);
  for (const [index, look] of looks.entries()) {
    const earlier = looks[index - 1];
    assert.ok(earlier === undefined || look.spentTime > earlier.spentTime);
    assert.ok(earlier === undefined || look.time > earlier.time);
  }
  assert.deepEqual([looks.at(-1)?.time, looks.at(-1)?.spentTime], [1, 1]);
  assert.ok(
    Math.abs(
      falseFindings(
        looks.map(({ time }) => time),
        boundariesOf(looks, 0.05),
      ) - 0.05,
    ) < 0.01,
  );
  assert.equal((looks[1]?.atMs ?? 0) - schedule.startMs, 8 * dayMs);
});

test('long experiments have at most thirty looks, evenly spaced and with the end last', () => {
  const startMs = at('2026-01-01T00:00:00Z');
  const spacing = (days: number) => {
    const looks = looksOf({
      ...scheduleOf('2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', { minimumDays: 1 }),
      endMs: startMs + days * dayMs,
    });
    const times = looks.map(({ atMs }) => (atMs - startMs) / dayMs);
    assert.equal(times.at(-1), days);
    return [times.length, times[0], times[1]];
  };
  assert.deepEqual(spacing(1), [1, 1, undefined]);
  assert.deepEqual(spacing(30), [30, 1, 2]);
  assert.deepEqual(spacing(31), [16, 2, 4]);
  assert.deepEqual(spacing(60), [30, 2, 4]);
  assert.deepEqual(spacing(61), [21, 3, 6]);
});

test('looks advance, spend all of alpha by the end, and never drop one that was taken', () => {
  const startMs = at('2026-03-02T09:00:00Z');
  const hours = fc.integer({ min: 30, max: 2_000 });
  const plan = fc.record({
    minimumDays: fc.integer({ min: 0, max: 14 }),
    lengths: fc.uniqueArray(hours, { minLength: 1, maxLength: 4 }),
    /** When each end was moved, always before it, in thousandths of the time that was left. */
    moved: fc.array(fc.nat(999), { minLength: 3, maxLength: 3 }),
  });
  fc.assert(
    fc.property(plan, ({ minimumDays, lengths, moved }) => {
      const ends = lengths.toSorted((a, b) => a - b).map((length) => startMs + length * 3_600_000);
      let movedAtMs = startMs;
      const earlierEnds = ends.slice(0, -1).map((endMs, index) => {
        movedAtMs += Math.floor(((endMs - movedAtMs) * (moved[index] ?? 0)) / 1_000);
        return { endMs, movedAtMs };
      });
      const endMs = ends.at(-1) ?? startMs;
      const schedule = { clock: clockOf('UTC'), startMs, endMs, minimumDays, earlierEnds };
      const looks = looksOf(schedule);
      const last = looks.at(-1);
      assert.deepEqual([last?.atMs, last?.time, last?.spentTime], [endMs, 1, 1]);
      for (const [index, look] of looks.entries()) {
        const before = looks[index - 1] ?? { atMs: startMs, time: 0, spentTime: 0 };
        assert.ok(look.atMs > before.atMs && look.time > before.time);
        assert.ok(look.spentTime > before.spentTime);
        assert.ok(look.spentTime >= look.time);
        assert.equal(lookDueAt(looks, look.atMs), index);
        assert.equal(lookDueAt(looks, look.atMs - 1), index - 1);
      }
      for (const [index, { endMs: earlier, movedAtMs: movedAt }] of earlierEnds.entries()) {
        const moves = earlierEnds.slice(0, index);
        const then = looksOf({ ...schedule, endMs: earlier, earlierEnds: moves });
        const taken = then.filter(({ atMs }) => atMs <= movedAt);
        assert.deepEqual(
          looks.slice(0, taken.length).map(({ atMs, spentTime }) => [atMs, spentTime]),
          taken.map(({ atMs, spentTime }) => [atMs, spentTime]),
        );
      }
    }),
    { numRuns: 150 },
  );
});

/** The share of random walks that cross a boundary at any look. */
function falseFindings(times: readonly number[], boundaries: readonly number[]): number {
  const random = createRandom(1);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const runs = 20_000;
  let crossed = 0;
  for (let run = 0; run < runs; run += 1) {
    let [score, before, hasCrossed] = [0, 0, false];
    for (const [index, time] of times.entries()) {
      score += normal() * Math.sqrt(time - before);
      before = time;
      hasCrossed ||= Math.abs(score) / Math.sqrt(time) >= (boundaries[index] ?? Infinity);
    }
    if (hasCrossed) crossed += 1;
  }
  return crossed / runs;
}
