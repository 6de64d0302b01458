import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRandom, shuffled } from '../../../../../test/recount/traffic.ts';
import { joinSegments, type ActivitySegment } from './segments.ts';

const minute = 60_000;
const idleMs = 30 * minute;
const merge = (a: ActivitySegment, b: ActivitySegment): ActivitySegment => ({
  firstAt: Math.min(a.firstAt, b.firstAt),
  lastAt: Math.max(a.lastAt, b.lastAt),
});
const moment = (at: number): ActivitySegment => ({ firstAt: at, lastAt: at });
const join = (a: readonly ActivitySegment[], b: readonly ActivitySegment[]) =>
  joinSegments(a, b, idleMs, merge);

describe('segments', () => {
  test('end after half an hour without an event', () => {
    const [first, second] = [moment(0), moment(idleMs - 1)];
    assert.deepEqual(join([first], [second]), [{ firstAt: 0, lastAt: idleMs - 1 }]);
    assert.deepEqual(join([first], [moment(idleMs)]), [moment(0), moment(idleMs)]);
  });

  test('are joined by a late event, and otherwise stay the same object', () => {
    const apart = join([moment(0)], [moment(40 * minute), moment(300 * minute)]);
    assert.equal(apart.length, 3);
    const joined = join(apart, [moment(20 * minute)]);
    assert.deepEqual(joined[0], { firstAt: 0, lastAt: 40 * minute });
    assert.equal(joined[1], apart[2]);
  });

  test('are a function of the set of events, regardless of order', () => {
    const random = createRandom(4);
    for (let round = 0; round < 200; round += 1) {
      const moments = Array.from({ length: 1 + Math.floor(random() * 30) }, () =>
        moment(Math.floor(random() * 400) * minute),
      );
      const expected = join([], moments);
      let found: ActivitySegment[] = [];
      const mixed = shuffled(moments, round);
      for (let at = 0; at < mixed.length;) {
        const size = 1 + Math.floor(random() * 5);
        const part = mixed
          .slice(at, at + size)
          .reduce<ActivitySegment[]>((all, one) => join(all, [one]), []);
        found = join(found, part);
        at += size;
      }
      assert.deepEqual(found, expected);
      for (const [index, { firstAt }] of expected.entries()) {
        const before = expected[index - 1];
        assert.ok(before === undefined || firstAt - before.lastAt >= idleMs);
      }
    }
  });
});
