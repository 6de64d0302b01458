/** Proves that no process runs with a key other than the one that encrypted the secrets. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { cloneDatabase, openTestDatabase } from '../../../test/database.ts';
import { runCommand, startMain } from '../../../test/processes.ts';
import { startService, temporaryFolder, toUrl } from '../../../test/service.ts';
import { encryptionKeyProblem, openVault } from './encryption-key.ts';
import { keyFile } from './vault.ts';

test('the first start makes a key; a lost, a wrong and a damaged one end every later start', async () => {
  const connection = await cloneDatabase();
  const first = await startService({}, { connection });
  const { dataDir } = first;
  await first[Symbol.asyncDispose]();
  const env = {
    PORT: '0',
    DATABASE_URL: toUrl(connection),
    REELFEED_DATA_DIR: dataDir,
    REELFEED_MIN_FREE_BYTES: '0',
    REELFEED_LOG_LEVEL: 'error',
  };
  const file = keyFile(dataDir);
  const refused = async (message: RegExp, more: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await startMain({ env: { ...env, ...more } }).ended;
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, message);
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
    const doctor = await runCommand(['doctor'], { env: { ...env, ...more } });
    assert.equal(doctor.code, 1);
    assert.match(doctor.stdout, /^PROBLEM Encryption key/m);
  };
  await rename(file, `${file}.kept`);
  await refused(/^The key .* is missing: put .*encryption\.key back from a backup/);
  assert.equal((await readdir(dataDir)).includes('encryption.key'), false, 'no new key is made');
  const other = randomBytes(32).toString('base64');
  await refused(/^The key in REELFEED_ENCRYPTION_KEY is not the one/, {
    REELFEED_ENCRYPTION_KEY: other,
  });
  await writeFile(file, other);
  await refused(/^The key in .*encryption\.key is not the one/);
  await writeFile(file, 'garbage');
  await refused(/encryption\.key must hold 32 bytes/);
  await rm(file);
  await rename(`${file}.kept`, file);
  const doctor = await runCommand(['doctor'], { env });
  assert.match(doctor.stdout, /Encryption key +decrypts the stored secrets/);
});

test('of processes that start at once on a new database, with folders of their own, one key wins', async () => {
  const { db } = await openTestDatabase();
  const folders = await Promise.all([1, 2, 3, 4].map(() => temporaryFolder()));
  const results = await Promise.allSettled(
    folders.map((dataDir) => openVault(db, { encryptionKey: null, dataDir })),
  );
  const winners = results.filter(({ status }) => status === 'fulfilled');
  assert.equal(winners.length, 1);
  for (const [place, { status }] of results.entries()) {
    const source = { encryptionKey: null, dataDir: folders[place] ?? '' };
    const problem = await encryptionKeyProblem(db, source);
    assert.equal(problem === null, status === 'fulfilled');
  }
});
