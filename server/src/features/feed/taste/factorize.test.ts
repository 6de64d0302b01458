/** Proves that shared tastes are found and that noise is not mistaken for taste. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tasteDimensions, factorize, type Watches } from './factorize.ts';
import { mix } from './hash.ts';

const viewers = 200;
const items = 120;
const each = 40;

/**
 * Viewers and items in as many groups; viewers like items of their own group more often by
 * `strength`.
 */
function watchesOf(groups: number, strength: number): Watches {
  const starts = [0];
  const met: number[] = [];
  const outcomes: number[] = [];
  for (let viewer = 0; viewer < viewers; viewer += 1) {
    for (let item = 0; item < items; item += 1) {
      if (mix(viewer * 7_919 + item) >= each / items) continue;
      const fits = viewer % groups === item % groups;
      const chance = 0.4 + (fits ? strength : -strength / groups);
      met.push(item);
      outcomes.push(mix(viewer * 104_729 + item * 31 + 5) < chance ? 1 : -0.4);
    }
    starts.push(met.length);
  }
  return {
    starts: Uint32Array.from(starts),
    items: Uint32Array.from(met),
    outcomes: Float32Array.from(outcomes),
    weights: new Float32Array(viewers).fill(1),
    serialNumbers: Float64Array.from({ length: items }, (_, item) => item + 1),
  };
}

function cosine(vectors: Float32Array, a: number, b: number): number {
  let [both, one, other] = [0, 0, 0];
  for (let at = 0; at < tasteDimensions; at += 1) {
    const x = vectors[a * tasteDimensions + at] ?? 0;
    const y = vectors[b * tasteDimensions + at] ?? 0;
    both += x * y;
    one += x * x;
    other += y * y;
  }
  return both / Math.sqrt(one * other);
}

test('items of one taste have similar vectors, and items of different tastes do not', () => {
  const { vectors, found } = factorize(watchesOf(4, 0.45));
  assert.ok(found >= 2 && found <= 5, `found ${found} directions`);
  let [same, others, sameCount, otherCount] = [0, 0, 0, 0];
  for (let a = 0; a < items; a += 1) {
    for (let b = 0; b < a; b += 1) {
      if (a % 4 === b % 4) [same, sameCount] = [same + cosine(vectors, a, b), sameCount + 1];
      else [others, otherCount] = [others + cosine(vectors, a, b), otherCount + 1];
    }
  }
  assert.ok(same / sameCount > 0.7, `cosine within a taste ${same / sameCount}`);
  assert.ok(others / otherCount < 0, `cosine between tastes ${others / otherCount}`);
});

test('viewers without a common taste produce hardly any vectors', () => {
  const { found, vectors } = factorize(watchesOf(4, 0));
  const length = Math.sqrt(vectors.reduce((sum, one) => sum + one * one, 0) / items);
  assert.ok(length < 0.1, `found ${found} of length ${length}`);
});

test('the same watches produce the same bytes', () => {
  const [one, other] = [factorize(watchesOf(4, 0.45)), factorize(watchesOf(4, 0.45))];
  assert.deepEqual(one.vectors, other.vectors);
});

test('viewers without known activity produce nothing', () => {
  const { vectors, found } = factorize({
    ...watchesOf(4, 0.45),
    weights: new Float32Array(viewers),
  });
  assert.equal(found, 0);
  assert.ok(vectors.every((one) => one === 0));
});
