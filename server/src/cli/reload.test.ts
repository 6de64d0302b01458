/**
 * Proves that `reelfeed reload` reports the outcome of the reload, and signals only the service.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { cloneDatabase } from '../../test/database.ts';
import { ready, runCommand, startMain } from '../../test/processes.ts';
import { temporaryFolder, toUrl } from '../../test/service.ts';
import { claimDataDirectory } from '../platform/data-directory/data-directory.ts';

const folder = await temporaryFolder();
const dataDir = path.join(folder, 'data');
const file = path.join(folder, 'settings');
const env = { REELFEED_DATA_DIR: dataDir };
const reload = (more: Record<string, string> = {}) =>
  runCommand(['reload'], { env: { ...env, ...more } });

test('without a service of its own that reloads, nothing is signalled', async () => {
  const nobody = await reload();
  assert.deepEqual(
    [nobody.code, nobody.stderr],
    [2, `No service is running with the data directory ${dataDir}.\n`],
  );
  await using _claim = await claimDataDirectory(dataDir);
  const other = await reload();
  assert.equal(other.code, 2);
  assert.match(other.stderr, new RegExp(`^Process ${process.pid}, which uses .*, cannot reload: `));
  const outside = await reload({ DATABASE_URL: toUrl(await cloneDatabase()) });
  assert.match(outside.stderr, /systemctl reload reelfeed/);
});

test('it reports what is in effect, what needs a restart, and why nothing has changed', async () => {
  const write = (...lines: string[]) => writeFile(file, lines.join('\n'));
  await write('REELFEED_LOG_LEVEL=warn');
  const settings = { PORT: '0', REELFEED_DRAIN_DELAY: '0s', REELFEED_ENV_FILE: file };
  const running = startMain({ env: { ...env, ...settings, REELFEED_MIN_FREE_BYTES: '0' } });
  await ready(running);
  assert.equal((await reload()).stdout, 'No setting has changed.\n');
  await write('REELFEED_LOG_LEVEL=error', 'REELFEED_PUBLIC_URL=https://other.example.com');
  const { code, stdout } = await reload();
  assert.equal(code, 0);
  assert.match(stdout, /^in effect +REELFEED_LOG_LEVEL$/m);
  assert.match(stdout, /^needs a restart +REELFEED_PUBLIC_URL$/m);
  await write('REELFEED_LOG_LEVEL=loud');
  const wrong = await reload();
  assert.equal(wrong.code, 1);
  assert.match(wrong.stdout, /^The settings were not reloaded: .*REELFEED_LOG_LEVEL: "loud"/);
  running.child.kill('SIGTERM');
  assert.equal((await running.ended).code, 0);
});
