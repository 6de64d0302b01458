/** Tests which timestamps are accepted, and that the ones we write can be read again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTimestamp, parseTimestamp } from './time.ts';

test('RFC 3339 timestamps with an offset are read exactly', () => {
  const cases = {
    '2026-01-31T12:00:00Z': '2026-01-31T12:00:00.000Z',
    '2026-01-31t12:00:00z': '2026-01-31T12:00:00.000Z',
    '2026-01-31T12:00:00.5+02:00': '2026-01-31T10:00:00.500Z',
    '2026-01-01T00:00:00-23:59': '2026-01-01T23:59:00.000Z',
    '2024-02-29T23:59:59.123456789Z': '2024-02-29T23:59:59.123Z',
    '2000-02-29T00:00:00Z': '2000-02-29T00:00:00.000Z',
    '0001-01-01T00:00:00Z': '0001-01-01T00:00:00.000Z',
    '9999-12-31T23:59:59.999Z': '9999-12-31T23:59:59.999Z',
  };
  for (const [written, expected] of Object.entries(cases)) {
    assert.equal(formatTimestamp(parseTimestamp(written)), expected, written);
  }
});

test('days, times and offsets that do not exist are refused', () => {
  const wrong = [
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T23:60:00Z',
    '2026-12-31T23:59:60Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+00:60',
    '9999-12-31T23:59:59-01:00',
    '0000-01-01T00:00:00+01:00',
  ];
  for (const written of wrong) assert.equal(parseTimestamp(written), null, written);
});

test('other forms are refused: local times, dates, numbers, spaces, other digits', () => {
  const wrong = [
    '',
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00.1234567890Z',
    '2026-01-01T00:00:00+0100',
    '2026-01-01T00:00:00 Z',
    ' 2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z\n',
    '+002026-01-01T00:00:00Z',
    '20260101T000000Z',
    '٢٠٢٦-01-01T00:00:00Z',
    '1767225600',
    'now',
  ];
  for (const written of wrong) assert.equal(parseTimestamp(written), null, JSON.stringify(written));
});

test('a missing time is written as null', () => {
  assert.equal(formatTimestamp(null), null);
});
