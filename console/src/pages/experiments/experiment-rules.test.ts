/** Tests the validation messages of the experiment form. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isBuiltIn,
  problemOfConfig,
  problemOfVariants,
  samples,
  type VariantDraft,
} from './experiment-rules.ts';

type Signals = Parameters<typeof problemOfConfig>[2];
const described = { defaultWeight: 1, description: '', label: '' };
const signals = [
  { name: 'recency', maxWeight: 2, ...described },
  { name: 'engagement', maxWeight: 1, ...described },
] satisfies Signals;

test('the samples are valid', () => {
  for (const type of ['ranking', 'config', 'feature'] as const)
    assert.equal(problemOfConfig(type, samples[type], signals), null, type);
  assert.deepEqual([isBuiltIn('watchTime'), isBuiltIn('toString')], [true, false]);
});

test('a configuration is an object with values of its type', () => {
  for (const [text, problem] of [
    ['{', /not valid JSON/],
    ['[]', /must be an object/],
    ['null', /must be an object/],
    ['5', /must be an object/],
    ['{"a b": 1}', /“a b” is not a valid name/],
    ['{"a.": 1}', /not a valid name/],
    ['{"a": null}', /“a” must be a text/],
    ['{"a": {}}', /“a” must be a text/],
  ] as const) {
    assert.match(problemOfConfig('config', text, undefined) ?? '', problem, text);
  }
  assert.equal(problemOfConfig('feature', '{"a": {"b": 1}}', undefined), null);
  assert.equal(problemOfConfig('config', '{"a.b-c": false, "d": "", "e": 0}', undefined), null);
});

test('weights belong to signals, stay within their limits, and are not all zero', () => {
  const problem = (weights: unknown, known: Signals = signals) =>
    problemOfConfig('ranking', JSON.stringify({ weights }), known);
  assert.equal(problem({ recency: 2, engagement: 0 }), null);
  assert.match(problem({ recency: 2.1 }) ?? '', /at most 2/);
  assert.match(problem({ recency: -1 }) ?? '', /0 or more/);
  assert.match(problem({ recency: '1' }) ?? '', /0 or more/);
  assert.match(problem({ luck: 1 }) ?? '', /“luck” is not a signal: recency, engagement/);
  assert.match(problem([]) ?? '', /must be an object/);
  assert.match(problem({ recency: 0, engagement: 0 }) ?? '', /above zero/);
  assert.equal(problem({ recency: 0 }), null, 'the other keeps its weight');
  const unchecked = problemOfConfig('ranking', '{"weights": {"anything": 99}}', undefined);
  assert.equal(unchecked, null, 'the service checks it');
  assert.match(problemOfConfig('ranking', '{"boost": 1}', signals) ?? '', /“boost” is not known/);
});

test('variants have separate ids and testers, and share all of the traffic', () => {
  const variant = (id: string, traffic: number, triedBy: string[] = []): VariantDraft => ({
    key: 0,
    id,
    name: '',
    traffic,
    config: '{}',
    triedBy,
  });
  assert.equal(problemOfVariants([variant('a', 50), variant('b', 50)]), null);
  const thirds = [variant('a', 33.3333), variant('b', 33.3333), variant('c', 33.3334)];
  assert.equal(problemOfVariants(thirds), null);
  assert.match(problemOfVariants([variant('a', 50), variant('b', 49)]) ?? '', /are 99 %/);
  assert.match(problemOfVariants([variant('a', 50), variant(' a ', 50)]) ?? '', /same id/);
  assert.match(problemOfVariants([variant('a b', 100)]) ?? '', /needs an id/);
  assert.match(problemOfVariants([variant('', 100)]) ?? '', /needs an id/);
  const tried = [variant('a', 50, ['ada']), variant('b', 50, ['ada'])];
  assert.match(problemOfVariants(tried) ?? '', /one variant only/);
});
