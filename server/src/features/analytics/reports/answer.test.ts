import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { wantsCsv } from '../../../platform/values/csv.ts';
import { toCsv } from './answer.ts';
import { average } from './metric-schemas.ts';

const row = Type.Object({
  date: Type.String(),
  startupTime: Type.Object({ p50: average(''), p99: average('') }),
  title: Type.String(),
});

test('CSV has a line for each row, and names for the fields of nested objects', () => {
  const rows = [
    { date: '2026-01-01', startupTime: { p50: 12.5, p99: null }, title: 'a, "b"' },
    { date: '2026-01-02', startupTime: { p50: null, p99: 7 }, title: '' },
  ];
  assert.equal(
    toCsv({ row, rows }),
    'date,startupTime.p50,startupTime.p99,title\r\n' +
      '2026-01-01,12.5,,"a, ""b"""\r\n2026-01-02,,7,\r\n',
  );
});

test('CSV without rows has its header', () => {
  assert.equal(toCsv({ row, rows: [] }), 'date,startupTime.p50,startupTime.p99,title\r\n');
});

test('CSV is sent only if it is named explicitly', () => {
  for (const accept of ['text/csv', 'text/csv;q=0.9', 'application/json, TEXT/CSV']) {
    assert.ok(wantsCsv(accept), accept);
  }
  for (const accept of [undefined, '*/*', 'text/*', 'application/json', 'text/csvx']) {
    assert.ok(!wantsCsv(accept), accept);
  }
});
