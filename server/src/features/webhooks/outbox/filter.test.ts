import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Type } from 'typebox';
import { extensionsOf } from '../../../app/composition.ts';
import { features } from '../../../app/features.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import { createCatalogue } from './event-kinds.ts';
import { kindsThatNeverPass, passes, type WebhookFilter } from './filter.ts';

const catalogue = createCatalogue(extensionsOf(features.list));
const kinds = (...names: string[]) =>
  new Map([...catalogue.declared].filter(([kind]) => names.includes(kind)));

test('each condition matches what it states and nothing else', () => {
  const data = {
    title: 'News: today',
    duration: 60,
    error: { code: 'NO_VIDEO' },
    items: [{ status: 'ready' }, { status: 'error', tries: 3 }],
    winner: null,
  };
  const cases: [WebhookFilter, boolean][] = [
    [{ title: { prefix: 'News:' } }, true],
    [{ title: { prefix: 'Old' } }, false],
    [{ title: { equals: 'News: today' } }, true],
    [{ title: { in: ['a', 'News: today'] } }, true],
    [{ title: { in: ['a'] } }, false],
    [{ duration: { gte: 60, lt: 61 } }, true],
    [{ duration: { gt: 60 } }, false],
    [{ duration: { equals: '60' } }, false],
    [{ title: { gt: 1 } }, false],
    [{ 'error.code': { equals: 'NO_VIDEO' } }, true],
    [{ 'error.message': { exists: false } }, true],
    [{ 'error.code': { exists: true, prefix: 'NO' } }, true],
    [{ 'error.code': { exists: false } }, false],
    [{ 'items.status': { equals: 'error' } }, true],
    [{ 'items.tries': { gt: 2 } }, true],
    [{ 'items.status': { equals: 'gone' } }, false],
    [{ winner: { equals: null } }, true],
    [{ winner: { exists: true } }, true],
    [{ absent: { equals: null } }, false],
    [{ title: { prefix: 'News' }, duration: { gt: 100 } }, false],
    [{ constructor: { exists: true } }, false],
    [{ '__proto__.constructor': { exists: true } }, false],
  ];
  for (const [filter, expected] of cases) {
    assert.equal(passes(filter, data), expected, JSON.stringify(filter));
  }
});

test('the catalogue shows which kinds can never pass', () => {
  const both = kinds('content.ready', 'content.errored');
  assert.deepEqual(kindsThatNeverPass({ title: { prefix: 'x' } }, both), []);
  assert.deepEqual(kindsThatNeverPass({ duration: { gt: 5 } }, both), ['content.errored']);
  assert.deepEqual(kindsThatNeverPass({ status: { equals: 'error' } }, both), ['content.ready']);
  assert.deepEqual(kindsThatNeverPass({ 'error.code': { exists: false } }, both), []);
  const imports = kinds('content.import.finished');
  assert.deepEqual(kindsThatNeverPass({ 'items.status': { in: ['error'] } }, imports), []);
  for (const filter of [
    { title: { gt: 5 } },
    { title: { equals: 5 } },
    { nothing: { exists: true } },
    { status: { in: ['gone'] } },
    { duration: { gt: 5, lt: 5 } },
    { duration: { gte: 6, lt: 5 } },
    { duration: { exists: false, gt: 5 } },
    { 'a..b': { exists: true } },
  ] as WebhookFilter[]) {
    assert.throws(
      () => kindsThatNeverPass(filter, kinds('content.ready')),
      { code: 'VALIDATION_ERROR' },
      JSON.stringify(filter),
    );
  }
});

test('a rejection names the condition that no kind meets, or the filter if several conditions together exclude all', () => {
  const refused = (filter: WebhookFilter, ...names: string[]) => {
    try {
      kindsThatNeverPass(filter, kinds(...names));
    } catch (error) {
      assert.ok(error instanceof ApiError);
      return error.message.split(':')[0];
    }
    return null;
  };
  const apart: WebhookFilter = { duration: { gt: 5 }, 'error.code': { equals: 'NO_VIDEO' } };
  const both = ['content.ready', 'content.errored'];
  assert.equal(refused({ title: { prefix: 'x' }, nothing: { gt: 1 } }, ...both), 'filter.nothing');
  assert.equal(refused(apart, ...both), 'filter');
  assert.equal(refused(apart), null, 'of no kinds none is impossible');
});

const scalars = fc.constantFrom<string | number | boolean | null>(
  '',
  'a',
  'ab',
  0,
  1,
  2,
  true,
  null,
);

test('a condition holds for a value as its parts say, each by itself', () => {
  const bound = fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined });
  const conditions = fc.record(
    {
      equals: scalars,
      in: fc.array(scalars, { minLength: 1, maxLength: 3 }),
      prefix: fc.constantFrom('a', 'b'),
      exists: fc.boolean(),
      gt: bound,
      gte: bound,
      lt: bound,
      lte: bound,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(conditions, fc.array(scalars, { maxLength: 2 }), (given, values) => {
      const condition = Object.fromEntries(
        Object.entries(given).filter(([, part]) => part !== undefined),
      ) as WebhookFilter[string];
      const { equals, in: allowed, prefix, exists, gt, gte, lt, lte } = condition;
      const isNumber = (value: unknown): value is number => typeof value === 'number';
      const holds = (value: (typeof values)[number]) =>
        (equals === undefined || value === equals) &&
        (allowed === undefined || allowed.includes(value)) &&
        (prefix === undefined || (typeof value === 'string' && value.startsWith(prefix))) &&
        (gt === undefined || (isNumber(value) && value > gt)) &&
        (gte === undefined || (isNumber(value) && value >= gte)) &&
        (lt === undefined || (isNumber(value) && value < lt)) &&
        (lte === undefined || (isNumber(value) && value <= lte));
      const { exists: _exists, ...others } = condition;
      const asked = Object.keys(others).length > 0;
      const expected =
        (exists === undefined || exists === values.length > 0) &&
        (asked ? values.some(holds) : exists !== undefined || values.length > 0);
      if (Object.keys(condition).length === 0) return;
      const data = { list: values.map((field) => ({ field })) };
      assert.equal(passes({ 'list.field': condition }, data), expected);
    }),
    { numRuns: 400 },
  );
});

test('a filter that matches an example of a kind is never called impossible', () => {
  const data = Type.Object({
    text: Type.String(),
    count: Type.Integer(),
    state: Type.Union([Type.Literal('on'), Type.Literal('off')]),
    maybe: Type.Union([Type.Null(), Type.Number()]),
  });
  const canPass = (filter: WebhookFilter) => {
    const example = { text: 'x', count: 5, state: 'on', maybe: null };
    try {
      return kindsThatNeverPass(filter, new Map([['kind', { data, example }]])).length === 0;
    } catch {
      return false;
    }
  };
  const possible: WebhookFilter[] = [
    { text: { equals: 'other' } },
    { text: { prefix: 'o' } },
    { count: { equals: 7 } },
    { count: { gt: 100 } },
    { state: { equals: 'off' } },
    { state: { in: ['gone', 'off'] } },
    { maybe: { equals: 0.5 } },
    { maybe: { equals: null } },
    { maybe: { gte: 1, lte: 1 } },
    { text: { exists: false } },
  ];
  for (const filter of possible) assert.equal(canPass(filter), true, JSON.stringify(filter));
  const impossible: WebhookFilter[] = [
    { count: { equals: 0.5 } },
    { count: { equals: '5' } },
    { count: { equals: true } },
    { count: { prefix: '5' } },
    { text: { equals: null } },
    { text: { gt: 1 } },
    { text: { in: ['a', 'b'], prefix: 'c' } },
    { state: { equals: 'gone' } },
    { state: { prefix: 'x' } },
    { count: { gte: 1, lt: 1 } },
    { count: { gt: 1, lte: 1 } },
    { count: { gt: 2, lt: 1 } },
    { text: { exists: false, equals: 'x' } },
    { text: { exists: false, gt: 1 } },
    { toString: { exists: true } },
    { 'text.length': { exists: true } },
    { [`a${'b'.repeat(100)}`]: { exists: false } },
    { 'a.b.c.d.e.f.g.h.i': { exists: false } },
  ];
  for (const filter of impossible) assert.equal(canPass(filter), false, JSON.stringify(filter));
  assert.equal(canPass({ 'a.b.c.d.e.f.g.h': { exists: false } }), true);
});
