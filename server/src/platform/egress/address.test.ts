import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  addressBytes,
  canonicalAddress,
  contains,
  isMetadataAddress,
  isPublicAddress,
  parseRange,
} from './address.ts';

/** First and last address of every refused IPv4 block, and the adjacent public addresses. */
const ipv4Blocks: [before: string | null, first: string, last: string, after: string | null][] = [
  [null, '0.0.0.0', '0.255.255.255', '1.0.0.0'],
  ['9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0'],
  ['100.63.255.255', '100.64.0.0', '100.127.255.255', '100.128.0.0'],
  ['126.255.255.255', '127.0.0.0', '127.255.255.255', '128.0.0.0'],
  ['168.63.129.15', '168.63.129.16', '168.63.129.16', '168.63.129.17'],
  ['169.253.255.255', '169.254.0.0', '169.254.255.255', '169.255.0.0'],
  ['172.15.255.255', '172.16.0.0', '172.31.255.255', '172.32.0.0'],
  ['191.255.255.255', '192.0.0.0', '192.0.0.255', '192.0.1.0'],
  ['192.0.1.255', '192.0.2.0', '192.0.2.255', '192.0.3.0'],
  ['192.31.195.255', '192.31.196.0', '192.31.196.255', '192.31.197.0'],
  ['192.52.192.255', '192.52.193.0', '192.52.193.255', '192.52.194.0'],
  ['192.88.98.255', '192.88.99.0', '192.88.99.255', '192.88.100.0'],
  ['192.167.255.255', '192.168.0.0', '192.168.255.255', '192.169.0.0'],
  ['192.175.47.255', '192.175.48.0', '192.175.48.255', '192.175.49.0'],
  ['198.17.255.255', '198.18.0.0', '198.19.255.255', '198.20.0.0'],
  ['198.51.99.255', '198.51.100.0', '198.51.100.255', '198.51.101.0'],
  ['203.0.112.255', '203.0.113.0', '203.0.113.255', '203.0.114.0'],
  ['223.255.255.255', '224.0.0.0', '255.255.255.255', null],
];

test('every special IPv4 block is refused from its first to its last address, and no more', () => {
  for (const [before, first, last, after] of ipv4Blocks) {
    assert.equal(isPublicAddress(first), false, first);
    assert.equal(isPublicAddress(last), false, last);
    if (before !== null) assert.equal(isPublicAddress(before), true, before);
    if (after !== null) assert.equal(isPublicAddress(after), true, after);
  }
});

test('every special IPv6 block is refused', () => {
  const refused = ['::', '::1', '::2', '100::1', '100:0:0:1::1', '200::1', '4000::1', '5f00::1'];
  refused.push('fc00::1', 'fd00:ec2::254', 'fdff::1', 'fe00::1', 'fe80::1', 'febf::1', 'fec0::1');
  refused.push('ff02::1', 'ffff::1', '2001::1', '2001:1ff::1', '2001:2::1', '2001:10::1');
  refused.push('2001:20::1', '2001:db8::1', '2002::1', '2620:4f:8000::1', '3ffe::1', '3fff::1');
  refused.push(
    '3fff:fff::1',
    '64:ff9b:1::1',
    '64:ff9b:1:ffff::8.8.8.8',
    '64:ff9a::1',
    '64:ff9c::1',
  );
  for (const address of refused) assert.equal(isPublicAddress(address), false, address);
  const allowed = ['2606:4700:4700::1111', '2001:4860:4860::8888', '2a00:1450:4001:800::200e'];
  allowed.push('2001:200::1', '2001:db7::1', '2001:db9::1', '2003::1', '3fff:1000::1', '2000::1');
  for (const address of allowed) assert.equal(isPublicAddress(address), true, address);
});

test('an IPv6 form that carries a refused IPv4 address is refused', () => {
  const carried = ipv4Blocks.flatMap(([, first, last]) => [first, last]);
  for (const ipv4 of carried) {
    const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
    const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
    const inverted = `${(~((a << 8) | b) & 0xffff).toString(16)}:${(~((c << 8) | d) & 0xffff).toString(16)}`;
    const forms = [
      `::ffff:${ipv4}`,
      `::ffff:${hex}`,
      `::${ipv4}`,
      `::ffff:0:${ipv4}`,
      `64:ff9b::${ipv4}`,
      `64:ff9b:1::${ipv4}`,
      `2002:${hex}::1`,
      `2001:0:${hex}::1`,
      `2001:0:808:808:0:0:${inverted}`,
      `fe80::5efe:${ipv4}`,
      `2606:4700::5efe:${ipv4}`,
      `2606:4700::200:5efe:${ipv4}`,
    ];
    for (const form of forms) assert.equal(isPublicAddress(form), false, form);
  }
});

test('a form that carries a public IPv4 address is judged by it where it still leads there', () => {
  for (const form of ['::ffff:8.8.8.8', '64:ff9b::5db8:d822', '2606:4700::5efe:8.8.8.8']) {
    assert.equal(isPublicAddress(form), true, form);
  }
  for (const form of ['2002:808:808::1', '::8.8.8.8', '2001:0:808:808::1', '64:ff9b:1::808:808']) {
    assert.equal(isPublicAddress(form), false, form);
  }
});

test('anything but a plainly written address is not a public address', () => {
  const texts = ['', 'example.com', '8.8.8', '8.8.8.8.', '08.8.8.8', '0x8.8.8.8', '134744072'];
  texts.push('8.8.8.8/32', ' 8.8.8.8', '2606:4700::1%eth0', '[2606:4700::1]', '::ffff:8.8.8');
  for (const text of texts) assert.equal(isPublicAddress(text), false, text);
});

test('metadata services are known in every spelling', () => {
  for (const address of [
    '169.254.169.254',
    '::ffff:a9fe:a9fe',
    'FD00:EC2:0::254',
    '168.63.129.16',
  ]) {
    assert.equal(isMetadataAddress(address), true, address);
  }
  assert.equal(isMetadataAddress('169.254.169.253'), false);
  assert.equal(canonicalAddress('0:0:0:0:0:FFFF:7F00:1'), '127.0.0.1');
  assert.equal(canonicalAddress('FD00:0ec2::254'), 'fd00:ec2:0:0:0:0:0:254');
});

test('ranges are read strictly', () => {
  for (const text of [
    '10.0.0.0',
    '10/8',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    'x/8',
  ]) {
    assert.equal(parseRange(text), null, text);
  }
  const [ten, everyIpv6] = [parseRange('10.0.0.0/8'), parseRange('::/0')];
  assert.ok(ten !== null && everyIpv6 !== null);
  assert.equal(contains(ten, '10.255.255.255'), true);
  assert.equal(contains(ten, '11.0.0.0'), false);
  assert.equal(contains(ten, '::ffff:10.0.0.1'), false, 'of the other family');
  assert.equal(contains(everyIpv6, '10.0.0.1'), false, 'of the other family');
  assert.equal(contains(everyIpv6, 'fd00::1'), true);
});

test('every spelling of an address has the same bytes, and is judged alike', () => {
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      const bytes = addressBytes(address);
      assert.ok(bytes);
      assert.equal(bytes.length, 16);
      const groups = Array.from({ length: 8 }, (_, at) =>
        (((bytes[at * 2] ?? 0) << 8) | (bytes[at * 2 + 1] ?? 0)).toString(16),
      );
      const spelled = [groups.join(':'), groups.map((one) => one.padStart(4, '0')).join(':')];
      for (const one of [...spelled, address.toUpperCase()]) {
        assert.deepEqual(addressBytes(one), bytes, one);
        assert.equal(canonicalAddress(one), canonicalAddress(address));
        assert.equal(isPublicAddress(one), isPublicAddress(address));
      }
      const list = new BlockList();
      list.addAddress(address, 'ipv6');
      assert.ok(list.check(groups.join(':'), 'ipv6'), 'as Node reads it');
    }),
    { numRuns: 300 },
  );
});

test('an IPv4 address inside an IPv6 one never reaches farther than by itself', () => {
  fc.assert(
    fc.property(
      fc.ipV4(),
      fc.constantFrom('::ffff:', '64:ff9b::', '2606:4700::5efe:'),
      (ip, head) => {
        assert.equal(isPublicAddress(`${head}${ip}`), isPublicAddress(ip));
        if (head === '::ffff:') assert.equal(canonicalAddress(`${head}${ip}`), ip);
      },
    ),
    { numRuns: 300 },
  );
});

test('a text that is not an address is never public', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      if (addressBytes(text) === null) assert.equal(isPublicAddress(text), false);
    }),
    { numRuns: 300 },
  );
});
