import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  judgeRule,
  newState,
  nextState,
  windowsOf,
  type AlertRule,
  type Judgement,
} from './rule.ts';

const base: AlertRule = {
  report: 'quality',
  metric: 'errorRate',
  windowHours: 1,
  condition: { type: 'above', threshold: 0.05 },
  minData: 100,
  cooldownHours: 6,
  resolveAfter: 2,
};
const band = { type: 'band', direction: 'both', width: 3.5, weeks: 4, minChange: 0.1 } as const;
const hourMs = 3_600_000;
const rates = (...values: (number | null)[]) => values.map((value) => ({ value, base: 500 }));
const counts = (...values: number[]) => values.map((value) => ({ value, base: null }));

test('a threshold is breached only beyond it, and too little data gives no result', () => {
  const verdict = (value: number | null, of: number) =>
    judgeRule(base, [{ value, base: of }], false).verdict;
  assert.equal(verdict(0.05, 100), 'fine');
  assert.equal(verdict(0.051, 100), 'breached');
  assert.equal(verdict(0.9, 99), 'unknown');
  assert.equal(verdict(null, 100), 'unknown');
  const below = { ...base, metric: 'plays', condition: { type: 'below', threshold: 10 } } as const;
  assert.equal(judgeRule(below, counts(0), true).verdict, 'breached');
});

test('a band is median ± width × 1.4826 × MAD', () => {
  const rule = { ...base, condition: { ...band, minChange: 0 } };
  // Median 101, distances 1, 1, 3, 99, so MAD is 2: half the width is 3.5 × 1.4826 × 2 = 10.3782.
  const history = [100, 102, 98, 200];
  const { low, high } = judgeRule(rule, counts(101, ...history), true);
  assert.ok(Math.abs((low ?? 0) - 90.6218) < 1e-9 && Math.abs((high ?? 0) - 111.3782) < 1e-9);
  const verdict = (value: number) => judgeRule(rule, counts(value, ...history), true).verdict;
  assert.deepEqual([90, 91, 111, 112].map(verdict), ['breached', 'fine', 'fine', 'breached']);
  const up = { ...rule, condition: { ...rule.condition, direction: 'above' } } as const;
  assert.equal(judgeRule(up, counts(0, ...history), true).verdict, 'fine');
});

test('nearly equal weeks give a band of the minimum width', () => {
  const rule = { ...base, condition: band };
  const { low, high } = judgeRule(rule, rates(0.02, 0.02, 0.02, 0.02, 0.02), false);
  assert.ok(Math.abs((low ?? 0) - 0.018) < 1e-12 && Math.abs((high ?? 0) - 0.022) < 1e-12);
});

test('a band needs three weeks of data, and a count needs enough usual numbers', () => {
  const rule = { ...base, condition: band };
  assert.equal(judgeRule(rule, rates(0.5, 0.01, 0.01, null, null), false).verdict, 'unknown');
  assert.equal(judgeRule(rule, rates(0.5, 0.01, 0.01, 0.01, null), false).verdict, 'breached');
  assert.equal(judgeRule(rule, counts(900, 20, 20, 20, 20), true).verdict, 'unknown');
  assert.equal(judgeRule(rule, counts(0, 200, 200, 200, 200), true).verdict, 'breached');
});

test('windows end with the hour, and previous windows are whole weeks before it', () => {
  const end = Date.UTC(2026, 0, 31, 12);
  const windows = windowsOf({ ...base, windowHours: 3, condition: band }, end);
  assert.equal(windows.length, 5);
  assert.deepEqual(windows[0], { startMs: end - 3 * hourMs, endMs: end });
  assert.deepEqual(windows[4], { startMs: end - (672 + 3) * hourMs, endMs: end - 672 * hourMs });
});

test('an alert opens once, is resolved by consecutive windows, and then cools down', () => {
  const told = (verdicts: string) => {
    let state = newState;
    return [...verdicts]
      .map((letter, index) => {
        const verdict = ({ b: 'breached', f: 'fine' } as const)[letter] ?? 'unknown';
        const judgement: Judgement = { verdict, value: null, low: null, high: null };
        const { next, change } = nextState(base, state, judgement, index * hourMs);
        state = next;
        return change === null ? '-' : change[0];
      })
      .join('');
  };
  assert.equal(told('ffbbbff'), '--o---r');
  assert.equal(told('bfbfbff'), 'o-----r', 'only consecutive windows count');
  assert.equal(told('bf?f'), 'o--r', 'windows without data have no effect');
  assert.equal(told('bffbbbbbb'), 'o-r-----o', 'six quiet hours');
});
