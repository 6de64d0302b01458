import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTimestamp } from '../../../platform/values/time.ts';
import { clockOffsetOf, parseMoment } from './event-time.ts';

const general = (text: string) => parseTimestamp(text)?.getTime() ?? null;

test('the usual form is read as the general way reads it', () => {
  const from = Date.UTC(1969, 11, 30);
  for (let n = 0; n < 50_000; n += 1) {
    // A step that covers many values of every part of a date.
    const text = new Date(from + n * 86_399_987).toISOString();
    assert.equal(parseMoment(text), general(text), text);
  }
});

test('a text with one wrong character is refused as the general way refuses it', () => {
  const right = '2026-02-28T23:59:59.999Z';
  for (let at = 0; at < right.length; at += 1) {
    for (const letter of '0123456789:-.TtZz +a\0') {
      const text = right.slice(0, at) + letter + right.slice(at + 1);
      assert.equal(parseMoment(text), general(text), JSON.stringify(text));
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
