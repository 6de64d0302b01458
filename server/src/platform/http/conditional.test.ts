/** Tests conditional requests against the rules of RFC 9110. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isNotModified, isRangeCurrent } from './conditional.ts';

const current = { etag: '"abc"', modifiedAt: new Date('2026-01-31T12:00:00.500Z') };
const at = 'Sat, 31 Jan 2026 12:00:00 GMT';
const before = 'Sat, 31 Jan 2026 11:59:59 GMT';

test('If-None-Match takes lists, weak tags and the star, and comes before dates', () => {
  const is = (header: string, more = {}) =>
    isNotModified({ 'if-none-match': header, ...more }, current);
  for (const header of ['"abc"', 'W/"abc"', '"x", "abc"', '"x" ,W/"abc","y"', '*']) {
    assert.equal(is(header), true, header);
  }
  for (const header of ['"x"', 'abc', '"ABC"', '"x, abc"', '', '"*"']) {
    assert.equal(is(header), false, header);
  }
  assert.equal(is('"x"', { 'if-modified-since': at }), false);
});

test('If-Modified-Since compares whole seconds, and ignores what is not a date', () => {
  const is = (header: string) => isNotModified({ 'if-modified-since': header }, current);
  assert.equal(is(at), true);
  assert.equal(is('Saturday, 31-Jan-26 12:00:01 GMT'), true);
  assert.equal(is(before), false);
  for (const wrong of ['yesterday', '2026-01-31', '5', '']) assert.equal(is(wrong), false, wrong);
});

test('If-Range lets a range through for exactly the current state', () => {
  const is = (header?: string) =>
    isRangeCurrent(header === undefined ? {} : { 'if-range': header }, current);
  assert.equal(is(), true);
  assert.equal(is('"abc"'), true);
  assert.equal(is(at), true);
  for (const other of ['W/"abc"', '"x"', before, 'Sat, 31 Jan 2026 12:00:01 GMT', 'abc', '*']) {
    assert.equal(is(other), false, other);
  }
});
