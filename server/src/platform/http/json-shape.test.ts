/**
 * Proves that the limits of JSON texts are enforced, and that the contents of strings do not count.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxContainers, maxDepth, maxKeys, problemOfJson } from './json-shape.ts';

const problemOf = (text: string) => problemOfJson(Buffer.from(text));
const nested = (depth: number, open = '[', close = ']') => open.repeat(depth) + close.repeat(depth);
const keys = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":0`).join();

test('depth is bounded, and siblings do not add up', () => {
  assert.equal(problemOf(nested(maxDepth)), null);
  assert.equal(problemOf(`[${`${nested(maxDepth - 1)},`.repeat(100)}1]`), null);
  for (const text of [
    nested(maxDepth + 1),
    nested(500_000),
    nested(40, '{"a":[', ']}'),
    '['.repeat(70),
  ]) {
    assert.match(problemOf(text) ?? '', /^is nested deeper than 64 levels$/);
  }
});

test('keys are counted in the whole text', () => {
  assert.equal(problemOf(`{${keys(maxKeys)}}`), null);
  assert.match(problemOf(`{${keys(maxKeys + 1)}}`) ?? '', /^has more than 10000 keys$/);
  const half = `{${keys(maxKeys / 2)}}`;
  assert.match(problemOf(`[${half},{"a":${half}}]`) ?? '', /10000 keys/);
});

test('objects and lists are counted together', () => {
  assert.equal(problemOf(`[${'[],'.repeat(maxContainers - 2)}{}]`), null);
  assert.match(
    problemOf(`[${'[],{},'.repeat(maxContainers / 2)}1]`) ?? '',
    /10000 objects and lists/,
  );
});

test('nothing in a string counts, whatever it escapes', () => {
  const texts = ['[{'.repeat(100), ':'.repeat(20_000), '1e400', String.raw`\" \\`, '\\', 'é"[漢'];
  for (const text of texts) {
    assert.equal(problemOf(JSON.stringify({ [text]: [text, { text }] })), null, text.slice(0, 20));
  }
  assert.match(problemOf(String.raw`["\\",${nested(maxDepth)}]`) ?? '', /nested deeper/);
});

test('numbers that a double cannot represent are rejected', () => {
  const refused = [
    '1e400',
    '-1e400',
    '1E+309',
    '2e308',
    '1.8e308',
    '9'.repeat(400),
    `${'9'.repeat(310)}.5`,
  ];
  refused.push(`${'1'.repeat(400)}e-1`, `0.5e${'9'.repeat(20)}`, '1230e306');
  for (const text of refused) {
    assert.match(problemOf(`{"a":${text}}`) ?? '', /out of range/, text);
    assert.match(problemOf(text) ?? '', /out of range/, text);
  }
  const taken = [
    '1.7976931348623157e308',
    '-1e308',
    '5e-324',
    '1e-400',
    '0.1234567890123456789',
    '0e0',
  ];
  for (const text of taken) assert.equal(problemOf(`[${text}]`), null, text);
});

test('integers that would be rounded are refused, in every notation that round-trips they are taken', () => {
  for (const text of ['12345678901234567890', '9007199254740993', '-9007199254740993']) {
    assert.match(problemOf(`{"id":${text}}`) ?? '', /rounded: send it as a string$/, text);
  }
  const taken = [
    9_007_199_254_740_991,
    9_007_199_254_740_992,
    1_700_000_000_000_000_000,
    12_345_678_901_234_567_000,
    2 ** 70,
  ];
  for (const number of taken) {
    assert.equal(problemOf(JSON.stringify([number, -number])), null, String(number));
    assert.equal(problemOf(`[${BigInt(number)}]`), null, String(number));
  }
});

test('a text full of large numbers is refused before it has cost much', () => {
  assert.match(problemOf(`[${'1e308,'.repeat(5_000)}1]`) ?? '', /more than 1000 large numbers/);
});

test('what is not JSON is left to the parser', () => {
  for (const text of ['', '"', '"\\', ']]]]', 'nonsense', '{"a":', '1e', '1e+', '.5', '--1']) {
    assert.equal(problemOf(text), null, text);
  }
});
