import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseTimestamp } from '../../../platform/values/time.ts';
import { clockOffsetOf, maxAgeMs, maxAheadMs, parseMoment, readUsual } from './event-time.ts';

const general = (text: string) => parseTimestamp(text)?.getTime() ?? null;

const isLeapDay = (text: string) => text.slice(5, 10) === '02-29';

test('the usual form is read without the general way, with the same result', () => {
  const from = Date.UTC(1970, 0, 1);
  for (let n = 0; n < 50_000; n += 1) {
    // A step that covers many values of every part of a date.
    const text = new Date(from + n * 86_399_987).toISOString();
    assert.equal(readUsual(text), isLeapDay(text) ? null : general(text), text);
  }
  for (const text of ['1970-01-01T00:00:00.000Z', '2026-12-31T23:59:59.999Z'])
    assert.equal(readUsual(text), general(text), text);
});

test('a time in any other year, or on a leap day, is parsed in the general way', () => {
  const dates = fc.oneof(
    fc.date({ min: new Date('0000-01-01'), max: new Date('1970-01-01'), noInvalidDate: true }),
    fc.integer({ min: 493, max: 2_499 }).map((fourth) => new Date(Date.UTC(fourth * 4, 1, 29))),
  );
  fc.assert(
    fc.property(dates, (date) => {
      const text = date.toISOString();
      assert.equal(parseMoment(text), general(text));
    }),
  );
});

test('a text with one wrong character is refused as the general way refuses it', () => {
  const right = '2026-02-28T23:59:59.999Z';
  for (let at = 0; at < right.length; at += 1) {
    for (const letter of '0123456789:-.TtZz +a\0') {
      const text = right.slice(0, at) + letter + right.slice(at + 1);
      const expected = general(text);
      assert.equal(parseMoment(text), expected, JSON.stringify(text));
      assert.ok([null, expected].includes(readUsual(text)), JSON.stringify(text));
    }
  }
});

test('a clock that is more than a minute wrong is corrected, and no other', () => {
  const nowMs = Date.UTC(2026, 10, 1);
  const of = (aheadMs: number) => clockOffsetOf(new Date(nowMs + aheadMs).toISOString(), nowMs);
  assert.deepEqual([of(0), of(60_000), of(-60_000)], [0, 0, 0]);
  assert.deepEqual([of(60_001), of(-60_001)], [-60_001, 60_001]);
  assert.equal(clockOffsetOf(undefined, nowMs), 0);
  for (const wrong of [null, 5, '', 'now']) assert.equal(clockOffsetOf(wrong, nowMs), null);
});

test('events are accepted from a day ago to five minutes ahead', () => {
  assert.deepEqual([maxAgeMs, maxAheadMs], [86_400_000, 300_000]);
});
