/** Tests which parts of the layer experiments take, and which experiments may share them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SlotRange } from './experiment.ts';
import { areExclusive, freeShare, takeRanges } from './layer.ts';

const sizeOf = (ranges: readonly SlotRange[]) =>
  ranges.reduce((sum, [from, to]) => sum + to - from, 0);

test('experiments take the free ranges from a given place on, wrapping around', () => {
  assert.deepEqual(takeRanges([], 0.25, 0.5), [[0.5, 0.75]]);
  assert.deepEqual(takeRanges([], 0.5, 0.75), [
    [0.75, 1],
    [0, 0.25],
  ]);
  assert.deepEqual(takeRanges([[0.25, 0.5]], 0.5, 0.375), [[0.5, 1]]);
  assert.equal(takeRanges([[0.25, 0.75]], 0.6, 0), null);
});

test('experiments that start at any places never overlap with running ones, and fill the layer', () => {
  const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.array(place, { minLength: 10, maxLength: 10 }), (places) => {
      const taken: SlotRange[] = [];
      for (const at of places) {
        const ranges = takeRanges(taken, 0.1, at);
        assert.ok(ranges !== null);
        assert.ok(Math.abs(sizeOf(ranges) - 0.1) < 1e-6);
        taken.push(...ranges);
      }
      assert.ok(freeShare(taken) < 1e-6);
      assert.equal(takeRanges(taken, 0.01, places[0] ?? 0), null);
      const ascending = taken.toSorted(([a], [b]) => a - b);
      for (const [index, [from]] of ascending.entries()) {
        assert.ok(from >= (ascending[index - 1]?.[1] ?? 0) - 1e-9);
      }
    }),
    { numRuns: 200 },
  );
});

test('overlapping ranges, as those of exclusive audiences, count once', () => {
  assert.ok(
    Math.abs(
      freeShare([
        [0, 0.5],
        [0.25, 0.75],
      ]) - 0.25,
    ) < 1e-9,
  );
});

test('audiences exclude each other by country and by device, but not by segment', () => {
  assert.equal(areExclusive({ countries: ['DE'] }, { countries: ['US'] }), true);
  assert.equal(areExclusive({ countries: ['DE', 'US'] }, { countries: ['US'] }), false);
  assert.equal(areExclusive({ countries: ['DE'] }, {}), false);
  assert.equal(areExclusive({ devices: ['ios'] }, { devices: ['web'], countries: ['DE'] }), true);
  assert.equal(areExclusive({ userSegments: ['a'] }, { userSegments: ['b'] }), false);
});
