import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AllowListError, parseAllowList } from './allow-list.ts';

test('each kind of entry opens what it says and nothing beside it', () => {
  const allow = parseAllowList([
    'Receiver.internal:8443',
    '192.0.2.1',
    '127.0.0.1:9000',
    'fd00::1',
    '[::1]:9000',
    '10.1.0.0/16',
    'fd12::/16',
  ]);
  const cases: [host: string, port: number, address: string, expected: boolean][] = [
    ['receiver.internal', 8443, '172.16.0.9', true],
    ['RECEIVER.internal.', 8443, '172.16.0.9', true],
    ['receiver.internal', 443, '172.16.0.9', false],
    ['evil.receiver.internal', 8443, '172.16.0.9', false],
    ['any.example', 1, '192.0.2.1', true],
    ['any.example', 1, '::ffff:192.0.2.1', true],
    ['any.example', 1, '192.0.2.2', false],
    ['127.0.0.1', 9000, '127.0.0.1', true],
    ['any.example', 9000, '127.0.0.1', true],
    ['127.0.0.1', 9001, '127.0.0.1', false],
    ['[fd00::1]', 443, 'fd00:0::1', true],
    ['[::1]', 9000, '::1', true],
    ['[::1]', 9001, '::1', false],
    ['any.example', 443, '10.1.255.255', true],
    ['any.example', 443, '10.2.0.0', false],
    ['any.example', 443, 'fd12:3::1', true],
  ];
  for (const [host, port, address, expected] of cases) {
    assert.equal(allow.allows({ host, port, address }), expected, `${host} ${port} ${address}`);
  }
});

test('a metadata service opens only to an entry of its own', () => {
  const target = { host: 'metadata.internal', port: 80, address: '169.254.169.254' };
  const wide = parseAllowList(['169.254.0.0/16', '0.0.0.0/0', 'metadata.internal:80']);
  assert.equal(wide.allows(target), false);
  assert.equal(wide.allows({ ...target, address: '::ffff:169.254.169.254' }), false);
  assert.equal(parseAllowList(['169.254.169.254']).allows(target), true);
});

test('everything that cannot be read is named in one error', () => {
  const entries = [
    'localhost',
    '10.0.0.0/40',
    '[127.0.0.1]:80',
    ':80',
    'a:0',
    'a:65536',
    'fe80::1%lo',
  ];
  entries.push('127.1:80', 'http://a:80', 'a b:80', '[::1]', '*:443', '');
  assert.throws(
    () => parseAllowList(['10.0.0.1', ...entries]),
    (error) => {
      assert.ok(error instanceof AllowListError);
      assert.deepEqual(
        error.problems.map((problem) => problem.split(' ')[0]),
        entries.map((entry) => JSON.stringify(entry).split(' ')[0]),
      );
      return true;
    },
  );
});

test('an empty list opens nothing', () => {
  const target = { host: 'localhost', port: 443, address: '127.0.0.1' };
  assert.equal(parseAllowList([]).allows(target), false);
});
