import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentRecords } from './recent-records.ts';

const numbers = (maxRecords: number) =>
  new RecentRecords<number>(maxRecords, {
    sizeBytes: 8,
    read: (bytes, at) => bytes.readDoubleLE(at),
    write: (value, bytes, at) => void bytes.writeDoubleLE(value, at),
  });

test('holds the latest value of each key, beyond its initial size', () => {
  const records = numbers(10_000);
  for (const turn of [0, 1]) {
    for (let n = 0; n < 10_000; n += 1) records.set(`key ${n}`, n + turn);
  }
  for (let n = 0; n < 10_000; n += 1) assert.equal(records.get(`key ${n}`), n + 1);
  assert.equal(records.get('key'), null);
});

test('forgets values not used recently, and keeps those used repeatedly', () => {
  const records = numbers(100);
  records.set('used', -1);
  records.set('unused', -2);
  for (let n = 0; n < 1_000; n += 1) {
    records.set(`key ${n}`, n);
    assert.equal(records.get('used'), -1, `after ${n}`);
    for (let back = 0; back < Math.min(n, 90); back += 1) {
      assert.equal(records.get(`key ${n - back}`), n - back);
    }
  }
  assert.equal(records.get('unused'), null);
  assert.equal(records.get('key 0'), null);
  records.clear();
  assert.equal(records.get('used'), null);
  records.set('used', 7);
  assert.equal(records.get('used'), 7);
});
