import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockOf, isTimeZone } from './zone-clock.ts';

const local = (zone: string, moment: string) =>
  new Date(clockOf(zone).localOf(Date.parse(moment))).toISOString();

test('the wall clock of a zone reads like UTC', () => {
  assert.equal(local('UTC', '2026-01-31T23:59:59.999Z'), '2026-01-31T23:59:59.999Z');
  assert.equal(local('Europe/Berlin', '2026-01-31T23:30:00Z'), '2026-02-01T00:30:00.000Z');
  assert.equal(local('America/Los_Angeles', '2026-07-01T06:59:00Z'), '2026-06-30T23:59:00.000Z');
  assert.equal(local('Asia/Kathmandu', '2026-01-01T00:00:00Z'), '2026-01-01T05:45:00.000Z');
  assert.equal(local('Pacific/Kiritimati', '2026-01-01T12:00:00Z'), '2026-01-02T02:00:00.000Z');
});

test('clocks go forward at one time and back at another', () => {
  assert.equal(local('Europe/Berlin', '2026-03-29T00:59:59Z'), '2026-03-29T01:59:59.000Z');
  assert.equal(local('Europe/Berlin', '2026-03-29T01:00:00Z'), '2026-03-29T03:00:00.000Z');
  assert.equal(local('Europe/Berlin', '2026-10-25T00:30:00Z'), '2026-10-25T02:30:00.000Z');
  assert.equal(local('Europe/Berlin', '2026-10-25T01:30:00Z'), '2026-10-25T02:30:00.000Z');
});

test('an hour is named with its offset', () => {
  const name = (zone: string, moment: string) => {
    const clock = clockOf(zone);
    return clock.nameOf(clock.localOf(Date.parse(moment)));
  };
  assert.equal(name('UTC', '2026-01-31T14:00:00Z'), '2026-01-31T14:00:00.000Z');
  for (const zone of ['Europe/Berlin', 'America/St_Johns', 'Asia/Kolkata', 'Pacific/Honolulu']) {
    const moment = '2026-07-31T14:00:00.000Z';
    assert.equal(new Date(name(zone, moment)).toISOString(), moment, zone);
  }
});

test('only names of the IANA database are zones', () => {
  for (const zone of ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5']) {
    assert.ok(isTimeZone(zone), zone);
  }
  for (const text of [
    '',
    'Berlin',
    '+01:00',
    'Europe/Nowhere',
    "UTC'; drop table x",
    'x'.repeat(99),
  ]) {
    assert.ok(!isTimeZone(text), text);
  }
});

test('the instant of a wall-clock time is the inverse of the wall-clock time of an instant', () => {
  for (const zone of [
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'Pacific/Kiritimati',
    'Asia/Kolkata',
  ]) {
    const clock = clockOf(zone);
    for (let hour = 0; hour < 365 * 24; hour += 5) {
      const moment = Date.UTC(2026, 0, 1) + hour * 3_600_000;
      const found = clock.momentOf(clock.localOf(moment));
      // A time in an hour that occurs twice corresponds to two instants.
      assert.ok(Math.abs(found - moment) === 0 || clock.localOf(found) === clock.localOf(moment));
    }
  }
});
