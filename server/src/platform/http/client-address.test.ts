/** Tests which sources are trusted to name a client's address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClientReader, proxyList } from './client-address.ts';

function read(trusted: string, peer: string | undefined, told?: string | string[]): string {
  const parsed = proxyList()(trusted);
  assert.ok('value' in parsed, trusted);
  const reader = createClientReader({
    addressHeader: 'X-Forwarded-For',
    trustedProxies: parsed.value,
  });
  const headers = told === undefined ? {} : { 'x-forwarded-for': told };
  const { address, isCertain } = reader({ socket: { remoteAddress: peer }, headers });
  return `${address} ${isCertain ? 'certain' : 'uncertain'}`;
}

const own = 'loopback,private';

test('the last address that is not a trusted proxy is the client, and a forged one before it is not', () => {
  assert.equal(read(own, '10.0.0.2', '6.6.6.6, 1.1.1.1'), '1.1.1.1 certain');
  assert.equal(read(own, '10.0.0.2', ['6.6.6.6', '1.1.1.1']), '1.1.1.1 certain');
  assert.equal(read(own, '127.0.0.1', '6.6.6.6, 1.1.1.1, 192.168.1.5'), '1.1.1.1 certain');
  assert.equal(read('198.51.100.0/24', '198.51.100.7', '6.6.6.6, 10.0.0.9'), '10.0.0.9 certain');
  assert.equal(read('2001:db8::/32', '2001:db8::1', '2606:4700::7'), '2606:4700::7 certain');
});

test('what an untrusted peer says about itself is ignored', () => {
  assert.equal(read(own, '8.8.4.4', '1.1.1.1'), '8.8.4.4 uncertain');
  assert.equal(read('none', '127.0.0.1', '1.1.1.1'), '127.0.0.1 uncertain');
  assert.equal(read('10.0.0.2', '10.0.0.3', '1.1.1.1'), '10.0.0.3 uncertain');
  assert.equal(read(own, '8.8.4.4'), '8.8.4.4 certain');
});

test('a proxy that names nobody, or nothing readable, is itself the address', () => {
  assert.equal(read(own, '10.0.0.2'), '10.0.0.2 uncertain');
  assert.equal(read(own, '10.0.0.2', 'unknown'), '10.0.0.2 uncertain');
  assert.equal(read(own, '10.0.0.2', '1.1.1.1, '), '10.0.0.2 uncertain');
  assert.equal(read(own, '10.0.0.2', '192.168.1.5'), '192.168.1.5 uncertain');
  assert.equal(read(own, undefined, '1.1.1.1'), ' uncertain');
});

test('mapped addresses, ports, brackets and zones are read', () => {
  assert.equal(read(own, '::ffff:10.0.0.2', '::ffff:1.1.1.1'), '1.1.1.1 certain');
  assert.equal(read(own, '::ffff:a00:2', '::FFFF:101:101'), '1.1.1.1 certain');
  assert.equal(read(own, '10.0.0.2', '1.1.1.1:5678'), '1.1.1.1 certain');
  assert.equal(read(own, '10.0.0.2', '[2606:4700::7]:443'), '2606:4700::7 certain');
  assert.equal(read(own, 'fe80::1%eth0', '1.1.1.1'), '1.1.1.1 certain');
});

test('a chain is read to its 32nd address from the right', () => {
  const chain = ['1.1.1.1', ...Array.from({ length: 40 }, () => '10.0.0.1')].join(', ');
  assert.equal(read(own, '10.0.0.2', chain), '10.0.0.1 uncertain');
});

test('an entry that is neither a name, an address nor a range is refused', () => {
  for (const wrong of ['proxy.example', '10.0.0.0/33', 'loopback,', '10.0.0', 'constructor']) {
    assert.ok('problem' in proxyList()(wrong), wrong);
  }
});
