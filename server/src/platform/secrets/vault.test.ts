/**
 * Proves that a sealed value opens only in its context and with its key, and that the key survives.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { ConfigurationError } from '../settings/settings.ts';
import { createVault, loadEncryptionKey } from './vault.ts';
import { pause } from '../../../test/waiting.ts';

let root = '';
before(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'reelfeed-vault-'));
});
after(() => rm(root, { recursive: true, force: true }));
const newFolder = () => mkdtemp(path.join(root, 'data-'));

const vault = createVault(randomBytes(32));

test('sealed data opens again, and never looks the same twice', () => {
  for (const plain of ['', 'whsec_1', '🎬 ü\0', 'x'.repeat(100_000)]) {
    const sealed = vault.seal(plain, 'webhook/1');
    assert.equal(vault.open(sealed, 'webhook/1'), plain);
    assert.ok(plain === '' || !sealed.includes(plain));
    assert.notDeepEqual(vault.seal(plain, 'webhook/1'), sealed);
  }
});

test('another key or another context does not open it', () => {
  const sealed = vault.seal('secret', 'webhook/1');
  assert.throws(() => createVault(randomBytes(32)).open(sealed, 'webhook/1'));
  assert.throws(() => vault.open(sealed, 'webhook/2'));
  assert.throws(() => vault.open(sealed, ''));
});

test('flipping any single bit, and any truncation, is detected', () => {
  const sealed = vault.seal('secret', 'webhook/1');
  for (let bit = 0; bit < sealed.length * 8; bit += 1) {
    const damaged = Buffer.from(sealed);
    damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.throws(() => vault.open(damaged, 'webhook/1'), `bit ${bit}`);
  }
  for (let length = 0; length < sealed.length; length += 1) {
    assert.throws(() => vault.open(sealed.subarray(0, length), 'webhook/1'), `length ${length}`);
  }
  assert.throws(() => vault.open(Buffer.concat([sealed, Buffer.of(0)]), 'webhook/1'));
});

test('the first start makes a key file for its owner alone, later ones read it', async () => {
  const folder = await newFolder();
  const key = await loadEncryptionKey(null, folder);
  assert.equal(key.length, 32);
  assert.deepEqual(await readdir(folder), ['encryption.key']);
  assert.equal((await stat(path.join(folder, 'encryption.key'))).mode & 0o777, 0o600);
  assert.deepEqual(await loadEncryptionKey(null, folder), key);
});

test('a given key is used and no file is made', async () => {
  const folder = await newFolder();
  const key = randomBytes(32);
  assert.deepEqual(await loadEncryptionKey(key.toString('base64'), folder), key);
  assert.deepEqual(await readdir(folder), []);
});

test('an invalid key is rejected without being shown, and its file is left unchanged', async () => {
  const folder = await newFolder();
  const wrong = randomBytes(16).toString('base64');
  const refusal = (error: unknown) => {
    assert.ok(error instanceof ConfigurationError);
    assert.match(error.message, /32 bytes in base64/);
    assert.ok(!error.message.includes(wrong));
    return true;
  };
  await assert.rejects(loadEncryptionKey(wrong, folder), refusal);
  const file = path.join(folder, 'encryption.key');
  for (const content of [wrong, '']) {
    await writeFile(file, content);
    await assert.rejects(loadEncryptionKey(null, folder), refusal);
    assert.equal(await readFile(file, 'utf8'), content);
  }
});

test('any number of simultaneous starts get one key', async () => {
  const folder = await newFolder();
  const keys = await Promise.all(Array.from({ length: 20 }, () => loadEncryptionKey(null, folder)));
  for (const key of keys) assert.deepEqual(key, keys[0]);
  assert.deepEqual(await readdir(folder), ['encryption.key']);
});

test('a crash at any time during the first start leaves a complete key or none', async () => {
  const program = `
    import { loadEncryptionKey } from ${JSON.stringify(new URL('vault.ts', import.meta.url).href)};
    process.stdout.write('.');
    await loadEncryptionKey(null, process.argv[1]);`;
  for (let round = 0; round < 6; round += 1) {
    const folder = await newFolder();
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'close');
    await once(child.stdout, 'data');
    await pause(round / 2, 'the kill comes at any moment');
    child.kill('SIGKILL');
    await ended;
    assert.equal((await loadEncryptionKey(null, folder)).length, 32);
  }
});
