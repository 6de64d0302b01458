/** Tests which playlist requests wait, and which are rejected for being too far ahead. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isReached, readDirectives, refuseFarAhead, type Edge } from './blocking-reload.ts';

const edge: Edge = { openSegment: 10, openParts: 2, lastParts: 4 };
const asked = (segment: number | null, part: number | null = null) => ({
  segment,
  part,
  isDelta: false,
});
const invalid = { code: 'VALIDATION_ERROR' };

test('directives are whole numbers, a part only with its segment', () => {
  assert.deepEqual(readDirectives({}), asked(null));
  const all = { _HLS_msn: '12', _HLS_part: '0', _HLS_skip: 'YES' };
  assert.deepEqual(readDirectives(all), { segment: 12, part: 0, isDelta: true });
  assert.equal(readDirectives({ _HLS_skip: 'v2' }).isDelta, true);
  assert.equal(readDirectives({ _HLS_skip: 'no' }).isDelta, false);
  assert.throws(() => readDirectives({ _HLS_part: '1' }), invalid);
  for (const wrong of ['', '-1', '1.5', 'x', '1234567890', ['1', '2']]) {
    assert.throws(() => readDirectives({ _HLS_msn: wrong }), invalid, String(wrong));
  }
});

test('a segment is there once the next one is open, a part once it is', () => {
  const reached = (segment: number | null, part: number | null = null, of = edge) =>
    isReached(asked(segment, part), of);
  assert.deepEqual(
    [null, 8, 9].map((segment) => reached(segment)),
    [true, true, true],
  );
  assert.deepEqual([reached(10), reached(11)], [false, false]);
  assert.deepEqual([reached(10, 0), reached(10, 1), reached(10, 2)], [true, true, false]);
  assert.equal(reached(9, 3), true);
  // A part after the last one is the first of the next segment.
  assert.equal(reached(9, 4), true);
  assert.equal(reached(9, 4, { ...edge, openParts: 0 }), false);
  assert.equal(reached(9, 4, { ...edge, openParts: 0, lastParts: 0 }), true, 'it has no parts');
});

test('a reached position stays reached as the edge advances', () => {
  const places = fc.record({ segment: fc.nat(6), part: fc.option(fc.nat(4)) });
  fc.assert(
    fc.property(places, fc.nat(6), fc.nat(3), ({ segment, part }, openSegment, openParts) => {
      const before = { openSegment, openParts, lastParts: 4 };
      if (!isReached(asked(segment, part), before)) return;
      assert.ok(isReached(asked(segment, part), { ...before, openParts: openParts + 1 }));
      const next = { openSegment: openSegment + 1, openParts: 1, lastParts: 4 };
      assert.ok(isReached(asked(segment, part), next));
    }),
    { numRuns: 300 },
  );
});

test('more than one segment or three seconds of parts ahead is a mistake', () => {
  const refuse =
    (segment: number | null, part: number | null = null) =>
    () =>
      refuseFarAhead(asked(segment, part), edge);
  for (const fine of [refuse(null), refuse(11), refuse(10, 2), refuse(9, 500)]) fine();
  assert.throws(refuse(12), invalid);
  assert.throws(refuse(10, 500), invalid);
  assert.throws(refuse(11, 500), invalid);
  const mostOf = (segment: number) => {
    let part = 0;
    for (; part < 500; part += 1) {
      try {
        refuse(segment, part + 1)();
      } catch {
        break;
      }
    }
    return part;
  };
  assert.equal(mostOf(10) - mostOf(11), edge.openParts, 'counted from the last part');
});
