/** Tests how the crowding of a network is measured, and whose address is trusted. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dayMs } from '../../../platform/values/time.ts';
import { Crowds, viewerAddress } from './crowds.ts';

const nowMs = Date.UTC(2026, 0, 1, 12);

function crowdsOf(count: number, addressOf: (index: number) => string): number[] {
  const crowds = new Crowds();
  return Array.from({ length: count }, (_, index) =>
    crowds.of('org', `viewer-${index}`, addressOf(index), nowMs),
  );
}

describe('a network', () => {
  test('is no crowd with sixteen viewers of an address, and one step more with each doubling', () => {
    const found = crowdsOf(1_024, () => '8.8.8.8');
    assert.deepEqual(
      [15, 16, 31, 32, 63, 64, 1_023].map((index) => found[index]),
      [0, 1, 1, 2, 2, 3, 6],
    );
  });

  test('of many addresses has room for more', () => {
    const found = crowdsOf(512, (index) => `8.8.8.${index % 256}`);
    assert.deepEqual(
      [127, 128, 511].map((index) => found[index]),
      [0, 1, 2],
    );
  });

  test('is its 64 bits in IPv6, which one customer can fill', () => {
    const found = crowdsOf(64, (index) => `2606:4700:1:2::${index.toString(16)}`);
    assert.equal(found.at(-1), 2);
  });

  test('counts a viewer once, each organization for itself, and forgets at the end of the day', () => {
    const crowds = new Crowds();
    for (let index = 0; index < 1_000; index += 1) {
      assert.equal(crowds.of('org', 'one', '8.8.8.8', nowMs), 0);
    }
    for (let index = 0; index < 40; index += 1) crowds.of('org', `v-${index}`, '8.8.8.8', nowMs);
    assert.equal(crowds.of('org', 'another', '8.8.8.8', nowMs), 2);
    assert.equal(crowds.of('other', 'another', '8.8.8.8', nowMs), 0);
    assert.equal(crowds.of('org', 'another', '8.8.8.8', nowMs + dayMs), 0);
  });

  test('counts each of its viewers, however close their fingerprints lie', () => {
    const crowds = new Crowds(256);
    const found = Array.from({ length: 17 }, (_, at) =>
      crowds.of('org', `v-${at}`, '8.8.8.8', nowMs),
    );
    assert.deepEqual([found[15], found[16]], [0, 1]);
  });

  test('has no further viewers once the memory is full, on each day anew', () => {
    const crowds = new Crowds(200);
    // Each viewer takes one slot for its address and one for its network, out of a hundred.
    for (const day of [0, 1]) {
      for (let request = 0; request < 1_500; request += 1) {
        crowds.of('org', `v-${request % 500}`, '8.8.8.8', nowMs + day * dayMs);
      }
      assert.equal(crowds.of('org', 'v-0', '8.8.8.8', nowMs + day * dayMs), 2);
    }
  });

  test('of an audience of 50,000 networks is hardly ever taken for a crowd', () => {
    const found = crowdsOf(
      50_000,
      (index) => `${20 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}.7`,
    );
    const crowded = found.filter((crowd) => crowd > 0).length;
    assert.ok(crowded < 50, `${crowded} of 50,000`);
  });
});

test('a viewer has an address if it is certain and public', () => {
  const cases = [
    ['8.8.4.4', true, '8.8.4.4'],
    ['8.8.4.4', false, null],
    ['127.0.0.1', true, null],
    ['', false, null],
  ] as const;
  for (const [address, isCertain, expected] of cases) {
    assert.equal(viewerAddress({ address, isCertain }), expected, address);
  }
});
