/** Condition rows convert to the API's format and back without loss. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { filterGrammar, metricGrammar, readJson, type Row } from './condition-rules.ts';

const row = (field: string, operator: string, ...values: string[]): Row => ({
  field,
  operator,
  values,
});

test('numbers and booleans are parsed as such, and quotes make them strings', () => {
  const read = metricGrammar.read([
    row('amount', 'gte', '5'),
    row('code', 'eq', '"5"'),
    row('isNew', 'eq', 'true'),
    row('currency', 'in', 'EUR', '7'),
    row('coupon', 'exists', 'false'),
  ]);
  assert.deepEqual(read, {
    value: [
      { field: 'amount', operator: 'gte', value: 5 },
      { field: 'code', operator: 'eq', value: '5' },
      { field: 'isNew', operator: 'eq', value: true },
      { field: 'currency', operator: 'in', value: ['EUR', 7] },
      { field: 'coupon', operator: 'exists', value: false },
    ],
  });
});

test('a filter joins the rows of a path, and rejects a repeated operator', () => {
  const within = [row('duration', 'gte', '60'), row('duration', 'lt', '90')];
  assert.deepEqual(filterGrammar.read(within), { value: { duration: { gte: 60, lt: 90 } } });
  const twice = [row('title', 'prefix', 'A'), row('title', 'prefix', 'B')];
  assert.deepEqual(filterGrammar.read(twice), { problem: 'repeated' });
  assert.deepEqual(filterGrammar.read([]), { value: null });
  assert.deepEqual(filterGrammar.read([row('author', 'equals', 'null')]), {
    value: { author: { equals: null } },
  });
});

test('an incomplete row is not a condition', () => {
  assert.deepEqual(metricGrammar.read([row('', 'eq', 'a')]), { problem: 'incomplete' });
  assert.deepEqual(metricGrammar.read([row('a', 'in')]), { problem: 'incomplete' });
  assert.deepEqual(metricGrammar.read([row('a', 'gt', 'much')]), { problem: 'number' });
});

test('anything that rows cannot express stays JSON', () => {
  assert.equal(filterGrammar.rowsOf({ title: { like: 'A' } }), null);
  assert.equal(filterGrammar.rowsOf({ title: {} }), null);
  assert.equal(metricGrammar.rowsOf([{ field: 'a', operator: 'eq', value: null }]), null);
  assert.equal(metricGrammar.rowsOf([{ field: 'a', operator: 'in', value: ['x', 'x'] }]), null);
  assert.deepEqual(readJson('{', filterGrammar), { problem: 'json' });
  assert.deepEqual(readJson('{}', metricGrammar), { problem: 'shape' });
  assert.deepEqual(readJson(' ', filterGrammar), { value: null });
});

const scalar = fc.oneof(
  fc.string(),
  fc.constantFrom('5', 'true', 'null', '"quoted"', ' spaced ', 'a, b', ''),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  fc.boolean(),
);
const bound = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const name = fc.stringMatching(/^[a-z_][a-z.]{0,8}$/);

test('every filter that rows can express survives the round trip', () => {
  const condition = fc.record(
    {
      equals: fc.oneof(scalar, fc.constant(null)),
      in: fc.uniqueArray(fc.oneof(scalar, fc.constant(null)), { minLength: 1, maxLength: 4 }),
      prefix: fc.string({ minLength: 1 }).filter((text) => text.trim() !== ''),
      exists: fc.boolean(),
      gt: bound,
      lte: bound,
    },
    { requiredKeys: [] },
  );
  const filters = fc.dictionary(
    name,
    condition.filter((one) => Object.keys(one).length > 0),
    { minKeys: 1, maxKeys: 5 },
  );
  fc.assert(
    fc.property(filters, (filter) => {
      const rows = filterGrammar.rowsOf(filter);
      assert.ok(rows !== null);
      const read = filterGrammar.read(rows);
      assert.equal(JSON.stringify(read), JSON.stringify({ value: filter }));
    }),
  );
});

test('every metric condition that rows can express survives the round trip', () => {
  const conditions = fc.array(
    fc.oneof(
      fc.record({ field: name, operator: fc.constantFrom('eq', 'ne'), value: scalar }),
      fc.record({ field: name, operator: fc.constantFrom('gt', 'lt'), value: bound }),
      fc.record({ field: name, operator: fc.constant('exists'), value: fc.boolean() }),
      fc.record({
        field: name,
        operator: fc.constant('in'),
        value: fc.uniqueArray(scalar, { minLength: 1, maxLength: 4 }),
      }),
    ),
  );
  fc.assert(
    fc.property(conditions, (where) => {
      const rows = metricGrammar.rowsOf(where);
      assert.ok(rows !== null);
      assert.equal(JSON.stringify(metricGrammar.read(rows)), JSON.stringify({ value: where }));
    }),
  );
});
