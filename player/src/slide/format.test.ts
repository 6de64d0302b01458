import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { fillsFrame, formatCount, formatStart, formatTime } from './format.ts';

test('counts are short, and a missing one is an empty string', () => {
  assert.equal(formatCount(0), '');
  assert.equal(formatCount(-1), '');
  assert.equal(formatCount(999), '999');
  assert.equal(formatCount(1234), '1.2K');
  assert.equal(formatCount(4_560_000), '4.6M');
});

test('times read as minutes and seconds, and unknown lengths as zero', () => {
  assert.equal(formatTime(0), '0:00');
  assert.equal(formatTime(65.9), '1:05');
  assert.equal(formatTime(3661), '1:01:01');
  assert.equal(formatTime(Number.NaN), '0:00');
  assert.equal(formatTime(Infinity), '0:00');
});

test('portrait clips fill a phone; landscape, square and unknown ones are shown whole', () => {
  assert.equal(fillsFrame(1080, 1920, 390, 844), true);
  assert.equal(fillsFrame(1080, 1920, 428, 760), true);
  assert.equal(fillsFrame(1920, 1080, 390, 844), false);
  assert.equal(fillsFrame(1080, 1080, 390, 844), false);
  assert.equal(fillsFrame(1920, 1080, 844, 390), true);
  assert.equal(fillsFrame(null, null, 390, 844), false);
  assert.equal(fillsFrame(1080, 1920, 0, 0), false);
});

test('a beginning reads as its time, with the day unless it is today, and not once it has passed', () => {
  const now = new Date(2026, 10, 3, 9, 30);
  assert.equal(formatStart(new Date(2026, 10, 3, 18, 0), now, 'de-DE'), '18:00');
  assert.equal(formatStart(new Date(2026, 10, 4, 18, 0), now, 'de-DE'), '04.11.2026, 18:00');
  assert.equal(formatStart(now, now, 'de-DE'), null);
});
