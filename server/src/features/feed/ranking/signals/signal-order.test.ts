/** Proves that the order of a page follows each signal, as its explanation says. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EntryFields } from '../../items/feed-entry.ts';
import { Choice, type ChoiceParts } from '../choice.ts';
import { baseConfig } from '../config.ts';
import { planItems } from '../order.ts';
import { noAuthor } from '../picker.ts';
import { explain } from '../rank.ts';
import { weightedSum } from '../scorer.ts';
import { item, nowMs, partsOf, viewerOf } from '../testing/small-world.ts';
import { baseWeights, problemOfWeights, type Weights } from '../weights.ts';
import { bySignal, signalNames, signals, type SignalName } from './table.ts';

/** Two items that differ only in the input of one signal: the first has more of it. */
type Case = {
  readonly better: Partial<EntryFields>;
  readonly worse: Partial<EntryFields>;
  readonly parts?: Partial<ChoiceParts>;
  /** The reactions of 200 viewers to each of the two items. */
  readonly counts?: { readonly better: object; readonly worse: object };
};

const ada = { tags: [], author: 'Ada' };
const bob = { tags: [], author: 'Bob' };
const maths = { tags: ['maths'], author: null };
const calm = { tags: ['calm'], author: null };
const four = <T>(one: T): T[] => [one, one, one, one];

const cases: Record<SignalName, Case> = {
  recency: {
    better: { freshSinceMs: nowMs - 3_600_000 },
    worse: { freshSinceMs: nowMs - 40 * 3_600_000 },
  },
  engagement: { better: {}, worse: {}, counts: { better: { reactions: 60 }, worse: {} } },
  topicAffinity: {
    better: { tags: ['maths'] },
    worse: { tags: ['calm'] },
    parts: { viewer: viewerOf(four(maths), four(calm)) },
  },
  geoRelevance: {
    better: { geo: { include: ['DE'], exclude: [] } },
    worse: { geo: { include: ['FR'], exclude: [] } },
    parts: { country: 'DE' },
  },
  completionRate: {
    better: {},
    worse: {},
    counts: { better: { plays: 150, completions: 140 }, worse: { plays: 150, completions: 5 } },
  },
  creatorAffinity: {
    better: { author: 'Ada' },
    worse: { author: 'Bob' },
    parts: { viewer: viewerOf(four(ada), four(bob)) },
  },
};

/** The page of the two items with explanations; the better one has the number `betterNumber`. */
function pageOf({ better, worse, parts, counts }: Case, weights: Weights, betterNumber: 1 | 2) {
  const config = { ...baseConfig, weights, exploration: 0 };
  const worseNumber = 3 - betterNumber;
  // The same age, unless the case is about age.
  const freshSinceMs = nowMs - 10 * 3_600_000;
  const all = partsOf(
    [
      item(betterNumber, { freshSinceMs, ...better }),
      item(worseNumber, { freshSinceMs, ...worse }),
    ],
    { ...parts, config, scorer: weightedSum(weights) },
  );
  if (counts !== undefined) {
    const none = { shown: 0, plays: 0, completions: 0, reactions: 0 };
    const countsOf = (serialNumber: number, own: object) => ({
      serialNumber,
      known: { ...none, shown: 200, ...own },
      newcomers: none,
    });
    const { statistics } = all.index;
    statistics.load('recent', [
      countsOf(betterNumber, counts.better),
      countsOf(worseNumber, counts.worse),
    ]);
    statistics.refresh(nowMs);
  }
  const choice = new Choice(all);
  const plan = planItems(choice, { wanted: 2, position: 0, previousAuthor: noAuthor, live: [] });
  return plan.chosen.map(({ entry }) => ({
    isBetter: entry.serialNumber === betterNumber,
    ...explain(choice, entry, []),
  }));
}

describe('the order follows each signal', () => {
  const none = bySignal(() => 0);
  for (const name of signalNames) {
    const one = cases[name];
    const weightings: Record<string, Weights> = {
      alone: { ...none, [name]: 1 },
      'among the others': baseWeights,
    };
    for (const [how, weights] of Object.entries(weightings)) {
      test(`${name} ${how}`, () => {
        for (const betterNumber of [1, 2] as const) {
          const [first, second] = pageOf(one, weights, betterNumber);
          assert.ok(first !== undefined && second !== undefined);
          assert.equal(first.isBetter, true);
          assert.ok(first.signals[name] > second.signals[name]);
          assert.ok(first.score > second.score);
          const others = signalNames.filter((other) => other !== name);
          for (const other of others) assert.equal(first.signals[other], second.signals[other]);
        }
      });
    }

    test(`${name} does not affect scores if its weight is 0`, () => {
      const others = { ...bySignal(() => 1), [name]: 0 };
      for (const betterNumber of [1, 2] as const) {
        const [first, second] = pageOf(one, others, betterNumber);
        assert.ok(first !== undefined && second !== undefined);
        assert.equal(first.score, second.score);
      }
    });
  }
});

test('Σ weight·signal / Σ weight is the score that is explained', () => {
  for (const name of signalNames) {
    for (const { score, signals: values, weights } of pageOf(cases[name], baseWeights, 1)) {
      const total = signalNames.reduce((sum, one) => sum + weights[one], 0);
      const sum = signalNames.reduce((all, one) => all + weights[one] * values[one], 0);
      assert.ok(Math.abs(sum / total - score) < 1e-12);
    }
  }
});

test('every signal has a description and a valid default', () => {
  assert.equal(problemOfWeights(baseWeights), null);
  for (const name of signalNames) {
    const { label, description, defaultWeight, maxWeight } = signals[name];
    assert.ok(label.length > 0 && description.length > 0);
    assert.ok(defaultWeight >= 0 && defaultWeight <= maxWeight);
    const tooMuch = { ...baseWeights, [name]: maxWeight * 1.01 };
    assert.equal(problemOfWeights(tooMuch)?.path, `weights.${name}`);
  }
});
