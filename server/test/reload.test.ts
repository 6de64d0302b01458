/**
 * Proves that SIGHUP applies the changeable settings, names the others, and survives invalid input.
 */
import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { cloneDatabase } from './database.ts';
import { ready, startMain } from './processes.ts';
import { eventually, send, temporaryFolder, toUrl } from './service.ts';

const folder = await temporaryFolder();
const file = path.join(folder, 'settings');
const key = `rf_pk_${'0'.repeat(49)}`;

test('SIGHUP applies changeable settings, and invalid input changes nothing', async () => {
  const write = (...lines: string[]) => writeFile(file, lines.join('\n'));
  await write('# limits', 'REELFEED_LOG_LEVEL=warn', 'REELFEED_MAX_UPLOAD_BYTES=1KB');
  const running = startMain({
    env: {
      PORT: '0',
      REELFEED_ENV_FILE: file,
      REELFEED_DATA_DIR: path.join(folder, 'data'),
      DATABASE_URL: toUrl(await cloneDatabase()),
      REELFEED_LOG_LEVEL: 'error',
      REELFEED_DRAIN_DELAY: '0s',
      REELFEED_MIN_FREE_BYTES: '0',
    },
  });
  const url = await ready(running);
  const maxUpload = async () =>
    Number((await send(`${url}/v1/uploads/x`, 'OPTIONS')).headers.get('tus-max-size'));
  const lines = () =>
    running.output.stderr
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
  const reload = async (message: RegExp) => {
    const before = lines().length;
    running.child.kill('SIGHUP');
    return eventually('the log to tell', async () => {
      const line = lines()
        .slice(before)
        .find(({ msg }) => message.test(msg));
      return line ?? null;
    });
  };
  assert.equal(await maxUpload(), 1_024, 'the file comes before the environment');
  const isLogged = (target: string) =>
    lines().some((line) => JSON.stringify(line).includes(target));
  await send(`${url}/v1/feed?first`, 'GET', { key });
  assert.ok(!isLogged('/v1/feed'), 'requests are not logged at the level warn');

  await write(
    'REELFEED_LOG_LEVEL=info',
    'REELFEED_MAX_UPLOAD_BYTES="2MB"',
    'REELFEED_BACKUP_KEEP=9d',
    'REELFEED_ADDRESS_LIMIT_PAGES=1',
    'REELFEED_TRUSTED_PROXIES=none',
    'REELFEED_PUBLIC_URL=https://other.example.com',
    'REELFEED_NO_SETTING=1',
  );
  const done = await reload(/^settings reloaded$/);
  assert.deepEqual(done.applied.toSorted(), [
    'REELFEED_ADDRESS_LIMIT_PAGES',
    'REELFEED_BACKUP_KEEP',
    'REELFEED_LOG_LEVEL',
    'REELFEED_MAX_UPLOAD_BYTES',
    'REELFEED_TRUSTED_PROXIES',
  ]);
  assert.deepEqual(done.needRestart, ['REELFEED_PUBLIC_URL']);
  await eventually('the unknown name', async () =>
    lines().some(({ variable }) => variable === 'REELFEED_NO_SETTING') ? true : null,
  );
  assert.equal(await maxUpload(), 2 * 2 ** 20);
  const page = async (told: string) =>
    (await send(`${url}/console/`, 'GET', { headers: { 'x-forwarded-for': told } })).status;
  assert.deepEqual([await page('8.8.8.8'), await page('8.8.4.4')], [200, 429]);
  await send(`${url}/v1/feed?second`, 'GET', { key });
  await eventually('the request in the log', async () => (isLogged('/v1/feed') ? true : null));

  const failed = /^settings not reloaded: the previous ones stay in effect$/;
  await write('REELFEED_MAX_UPLOAD_BYTES=lots', 'REELFEED_LOG_LEVEL=loud');
  const wrong = await reload(failed);
  assert.match(wrong.problem, /REELFEED_LOG_LEVEL: "loud" .* REELFEED_MAX_UPLOAD_BYTES: "lots"/);
  await write('REELFEED_MAX_UPLOAD_BYTES=3MB', '<<<<<<< hunter2');
  const garbage = await reload(failed);
  assert.match(garbage.problem, /^REELFEED_ENV_FILE: line 2 of .* is not NAME=value\.$/);
  assert.ok(!running.output.stderr.includes('hunter2'));
  await rm(file);
  assert.match((await reload(failed)).problem, /^REELFEED_ENV_FILE: cannot read .*ENOENT/);
  assert.equal(await maxUpload(), 2 * 2 ** 20, 'nothing was taken from what is not valid');

  running.child.kill('SIGTERM');
  assert.equal((await running.ended).code, 0);
});
