/** Tests what a click selects, alone and with Shift. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toggled } from './selection.ts';

const items = [...'abcde'].map((id) => ({ id }));
const of = (...ids: string[]) => new Map(ids.map((id) => [id, { id }]));
const click = (selected: Map<string, { id: string }>, index: number, from: string | null = null) =>
  [...toggled(items, selected, { index, from }).keys()].join('');

test('a click selects an item, and another one deselects it', () => {
  assert.equal(click(of(), 1), 'b');
  assert.equal(click(of('a', 'b'), 1), 'a');
});

test('with Shift, everything between two clicks becomes as the second one is', () => {
  assert.equal(click(of('b'), 3, 'b'), 'bcd');
  assert.equal(click(of('d'), 1, 'd'), 'dbc');
  assert.equal(click(of('a', 'b', 'c', 'd'), 3, 'b'), 'a');
  assert.equal(click(of('c'), 2, 'c'), '');
});

test('items hidden by the filter stay selected, and do not end a range', () => {
  assert.equal(click(of('x'), 1, 'x'), 'xb');
  assert.equal(click(of('x'), 9), 'x');
  const before = of('a');
  toggled(items, before, { index: 1, from: null });
  assert.equal([...before.keys()].join(''), 'a', 'the earlier selection is unchanged');
});
