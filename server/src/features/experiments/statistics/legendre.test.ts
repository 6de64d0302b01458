import assert from 'node:assert/strict';
import { test } from 'node:test';
import { legendreNodes } from './legendre.ts';

test('n nodes integrate every power up to 2n − 1 exactly, from −1 to 1', () => {
  for (const count of [1, 2, 3, 5, 16, 64]) {
    const nodes = legendreNodes(count);
    assert.equal(nodes.length, count);
    for (let power = 0; power < 2 * count; power += 1) {
      const sum = nodes.reduce((total, { at, weight }) => total + weight * at ** power, 0);
      const exact = power % 2 === 0 ? 2 / (power + 1) : 0;
      assert.ok(Math.abs(sum - exact) < 1e-13, `${count} nodes, power ${power}: ${sum}`);
    }
  }
});

test('nodes ascend', () => {
  const places = legendreNodes(64).map(({ at }) => at);
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
});
