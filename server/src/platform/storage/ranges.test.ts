import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { resolveRange } from './ranges.ts';
import { RangeNotSatisfiableError } from './storage-errors.ts';

const sizes = fc.nat(20);

test('a range selects what slicing the bytes would, or is refused where that is nothing', () => {
  const ranges = fc.oneof(
    fc.record({ lastBytes: fc.nat(30) }),
    fc.record({ start: fc.nat(30) }),
    fc.tuple(fc.nat(30), fc.nat(30)).map(([start, more]) => ({ start, end: start + more })),
  );
  fc.assert(
    fc.property(ranges, sizes, (range, size) => {
      const bytes = Array.from({ length: size }, (_, at) => at);
      const expected =
        'lastBytes' in range
          ? bytes.slice(Math.max(0, size - range.lastBytes))
          : bytes.slice(range.start, 'end' in range ? range.end + 1 : undefined);
      if (expected.length === 0) {
        assert.throws(() => resolveRange(range, size), RangeNotSatisfiableError);
        return;
      }
      const { offsetBytes, lengthBytes } = resolveRange(range, size);
      assert.deepEqual(bytes.slice(offsetBytes, offsetBytes + lengthBytes), expected);
    }),
    { numRuns: 300 },
  );
});

test('without a range it is the whole object, an empty one included', () => {
  fc.assert(
    fc.property(sizes, (size) => {
      assert.deepEqual(resolveRange(undefined, size), { offsetBytes: 0, lengthBytes: size });
    }),
  );
});
