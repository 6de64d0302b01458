/** Tests which addresses are counted together. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressGroup } from './address-group.ts';

test('an IPv4 address counts alone, an IPv6 address with its network of 64 bits', () => {
  const cases = [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002:0:0:0:6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ] as const;
  for (const [address, group] of cases) assert.equal(addressGroup(address), group, address);
});
