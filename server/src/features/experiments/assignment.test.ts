/** Proves the assignment algorithm that the service and the client library share. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assignVariant,
  murmur3,
  positionOf,
  type AssignmentPlan,
} from '@reelfeed/client/assignment';
import { chiSquareUpper } from './statistics/tails.ts';

const variants = [
  { id: 'control', traffic: 0.5 },
  { id: 'treatment', traffic: 0.5 },
];

function planOf(id: string, traffic: number, of = variants): AssignmentPlan {
  return {
    gateSalt: `${id}:gate`,
    splitSalt: `${id}:split`,
    ranges: [[0, traffic]],
    variants: of,
    targeting: {},
  };
}

/** The p-value of a goodness-of-fit test of counts against expected shares. */
function fit(counts: readonly number[], shares: readonly number[]): number {
  const total = counts.reduce((a, b) => a + b, 0);
  const statistic = counts.reduce((sum, count, index) => {
    const expected = total * (shares[index] ?? 0);
    return sum + (count - expected) ** 2 / expected;
  }, 0);
  return chiSquareUpper(statistic, counts.length - 1);
}

test('the hash is MurmurHash3', () => {
  const hash = (text: string, seed: number) => murmur3(Buffer.from(text), seed);
  assert.equal(hash('', 0), 0);
  assert.equal(hash('', 1), 0x514e28b7);
  assert.equal(hash('test', 0), 0xba6bd213);
  assert.equal(hash('Hello, world!', 0), 0xc0363e43);
  assert.equal(hash('The quick brown fox jumps over the lazy dog', 0), 0x2e4ff723);
});

test('no unit out of a million changes variant while traffic grows and shrinks', () => {
  const count = 1_000_000;
  const given = new Uint8Array(count);
  const steps = [0.01, 0.05, 0.5, 1, 0.5, 1];
  const inside = new Map<number, number>();
  for (const traffic of steps) {
    const plan = planOf('exp_growing', traffic);
    let members = 0;
    for (let unit = 0; unit < count; unit += 1) {
      const variant = assignVariant(plan, `user-${unit}`, {});
      if (variant === null) continue;
      members += 1;
      const code = variant === 'control' ? 1 : 2;
      if (given[unit] !== 0 && given[unit] !== code) assert.fail(`user-${unit} was moved`);
      given[unit] = code;
    }
    // The same traffic share always selects the same units.
    assert.equal(inside.get(traffic) ?? members, members);
    inside.set(traffic, members);
    const distance = Math.abs(members - traffic * count);
    assert.ok(distance <= 5 * Math.sqrt(count * traffic * (1 - traffic)), `${members}`);
  }
  const treated = given.reduce((sum, code) => sum + (code === 2 ? 1 : 0), 0);
  assert.ok(fit([treated, count - treated], [0.5, 0.5]) > 0.001);
});

test('the split is fair among the units selected by any traffic share', () => {
  for (const traffic of [0.01, 0.05, 0.1, 0.5]) {
    const shares = [0.2, 0.3, 0.5];
    const plan = planOf(
      'exp_shares',
      traffic,
      shares.map((share, index) => ({ id: `${index}`, traffic: share })),
    );
    const counts = [0, 0, 0];
    for (let unit = 0; unit < 150_000; unit += 1) {
      const variant = assignVariant(plan, `${unit}`, {});
      if (variant !== null) counts[Number(variant)] = (counts[Number(variant)] ?? 0) + 1;
    }
    assert.ok(fit(counts, shares) > 0.001, `${traffic}: ${counts.join()}`);
  }
});

test('positions are uniform for ids of every form, and independent between experiments', () => {
  const forms: ((unit: number) => string)[] = [
    (unit) => `${unit}`,
    (unit) => `user_${unit}`,
    (unit) => `00000000-0000-7000-8000-${unit.toString(16).padStart(12, '0')}`,
    (unit) => `日本語-${unit}-😀`,
  ];
  const twenty = Array.from({ length: 20 }, () => 1 / 20);
  const hundred = Array.from({ length: 100 }, () => 1 / 100);
  const pValues: number[] = [];
  for (const [form, idOf] of forms.entries()) {
    for (let pair = 0; pair < 6; pair += 1) {
      const uniform = twenty.map(() => 0);
      const joint = hundred.map(() => 0);
      for (let unit = 0; unit < 20_000; unit += 1) {
        const one = positionOf(`exp_${form}_${pair}:split`, idOf(unit));
        const other = positionOf(`exp_${form}_${pair + 1}:split`, idOf(unit));
        const bucket = Math.floor(one * 20);
        uniform[bucket] = (uniform[bucket] ?? 0) + 1;
        const cell = Math.floor(one * 10) * 10 + Math.floor(other * 10);
        joint[cell] = (joint[cell] ?? 0) + 1;
      }
      pValues.push(fit(uniform, twenty), fit(joint, hundred));
    }
  }
  // With 48 tests, one p-value below 0.0001 happens about once in 200 runs.
  assert.ok(Math.min(...pValues) > 0.0001, `${Math.min(...pValues)}`);
  const low = pValues.filter((p) => p < 0.5).length;
  assert.ok(low > 8 && low < 40, `${low} of ${pValues.length} are below one half`);
});

test('experiments that share a gate but not their ranges never share a unit', () => {
  const plan = (id: string, from: number, to: number): AssignmentPlan => ({
    ...planOf(id, 1),
    gateSalt: 'layer',
    ranges: [[from, to]],
  });
  const [one, other] = [plan('exp_a', 0, 0.3), plan('exp_b', 0.3, 1)];
  for (let unit = 0; unit < 20_000; unit += 1) {
    const taking = [one, other].filter((each) => assignVariant(each, `${unit}`, {}) !== null);
    assert.equal(taking.length, 1);
  }
});

test('edges: no traffic, all of it, a variant without any, shares that do not quite add up', () => {
  const rounded = [
    { id: 'a', traffic: 0.7 },
    { id: 'b', traffic: 0.2 },
    { id: 'c', traffic: 0.1 - 1e-7 },
    { id: 'none', traffic: 0 },
  ];
  for (let unit = 0; unit < 20_000; unit += 1) {
    assert.equal(assignVariant(planOf('exp_none', 0), `${unit}`, {}), null);
    assert.notEqual(assignVariant(planOf('exp_all', 1), `${unit}`, {}), null);
    const variant = assignVariant(planOf('exp_rounded', 1, rounded), `${unit}`, {});
    assert.ok(variant !== null && variant !== 'none');
  }
});

test('targeting by country, device and segment', () => {
  const plan: AssignmentPlan = {
    ...planOf('exp_targeted', 1),
    targeting: { countries: ['DE', 'FR'], devices: ['ios'], userSegments: ['new', 'vip'] },
  };
  const fits = { country: 'de', device: 'ios', segments: ['x', 'vip'] } as const;
  assert.notEqual(assignVariant(plan, 'u', fits), null);
  assert.equal(assignVariant(plan, 'u', { ...fits, country: 'US' }), null);
  assert.equal(assignVariant(plan, 'u', { ...fits, device: 'web' }), null);
  assert.equal(assignVariant(plan, 'u', { ...fits, segments: ['x'] }), null);
  assert.equal(assignVariant(plan, 'u', {}), null);
});
