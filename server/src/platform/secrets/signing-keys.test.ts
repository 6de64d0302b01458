/**
 * Proves that all processes of a cluster sign the same way, and that only our signatures are
 * accepted.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { openTestDatabase } from '../../../test/database.ts';
import { loadSigner } from './signing-keys.ts';

const { db, connection } = await openTestDatabase();

test('two processes that ask at the same time get the same key', async () => {
  const fixture = path.join(import.meta.dirname, 'signing-keys.fixture.ts');
  const children = await Promise.all(
    [1, 2].map(async () => {
      const child = spawn(process.execPath, [fixture, JSON.stringify(connection), 'raced'], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const lines = createInterface({ input: child.stdout });
      await once(lines, 'line');
      return { child, lines };
    }),
  );
  const answers = children.map(({ lines }) => once(lines, 'line'));
  for (const { child } of children) child.stdin.write('go\n');
  const signatures = (await Promise.all(answers)).map(([line]) => String(line));
  assert.match(signatures[0] ?? '', /^[0-9a-f]{64}$/);
  assert.equal(signatures[0], signatures[1]);
  const here = await loadSigner(db, 'raced');
  assert.equal(here.sign('text', 32).toString('hex'), signatures[0]);
});

test('many calls at once make one key for each name', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `name-${index % 2}`);
  const signers = await Promise.all(names.map((name) => loadSigner(db, name)));
  const signatures = new Set(signers.map((signer) => signer.sign('x', 32).toString('hex')));
  assert.equal(signatures.size, 2);
});

test('a signature matches only its own data, and a damaged one matches nothing', async () => {
  const signer = await loadSigner(db, 'verify');
  const other = await loadSigner(db, 'another');
  for (const length of [8, 12, 16, 32]) {
    const signature = signer.sign('data', length);
    assert.equal(signature.length, length);
    assert.equal(signer.verify('data', signature), true);
    assert.equal(signer.verify(Buffer.from('data'), signature), true);
    assert.equal(signer.verify('Data', signature), false);
    assert.equal(other.verify('data', signature), false);
    const damaged = Buffer.from(signature);
    damaged[length - 1] = (damaged[length - 1] ?? 0) ^ 1;
    assert.equal(signer.verify('data', damaged), false);
  }
});

test('a truncated, empty or overlong signature is invalid', async () => {
  const signer = await loadSigner(db, 'verify');
  const signature = signer.sign('data', 32);
  for (const length of [0, 1, 4, 7]) {
    assert.equal(signer.verify('data', signature.subarray(0, length)), false, `${length} bytes`);
  }
  assert.equal(signer.verify('data', Buffer.concat([signature, Buffer.of(0)])), false);
});
