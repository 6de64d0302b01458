/**
 * Proves that `reelfeed export` downloads a file, and cancels an export that is no longer wanted.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { runCommand, startCommand } from '../../test/processes.ts';
import { createItem } from '../../test/seed.ts';
import { eventually, startService, temporaryFolder } from '../../test/service.ts';

const service = await startService({ REELFEED_ROLES: 'api,worker' });
const cwd = await temporaryFolder();
const env = { REELFEED_PUBLIC_URL: service.url, REELFEED_SECRET_KEY: service.secretKey };
const item = await createItem(service, { title: 'Wanted', tags: ['news'] });
await createItem(service, { title: 'Not wanted' });

test('it downloads the requested rows', async () => {
  const today = new Date().toISOString().slice(0, 10);
  const options = ['--from', today, '--to', today, '--format', 'csv', '--filter', 'tag=news'];
  const args = ['export', 'content', ...options, '--json'];
  const { code, stdout, stderr } = await runCommand(args, { env, cwd });
  assert.equal(code, 0, stderr);
  const { file, rowCount, fileSize } = JSON.parse(stdout);
  assert.deepEqual([file, rowCount], [`content-${today}-${today}.csv`, 1]);
  const text = await readFile(path.join(cwd, file), 'utf8');
  assert.equal(Buffer.byteLength(text), fileSize);
  assert.match(text, new RegExp(`\\r\\n${item.id},`));
});

test('it says what is wrong', async () => {
  const noDataset = await runCommand(['export'], { env, cwd });
  assert.equal(noDataset.code, 2);
  assert.match(noDataset.stderr, /reelfeed export <dataset>/);
  const wrong = await runCommand(['export', 'content', '--filter', 'country=DE'], { env, cwd });
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /filter\.country/);
  const noKey = await runCommand(['export', 'content'], { env: {}, cwd });
  assert.match(noKey.stderr, /REELFEED_SECRET_KEY/);
});

test('stopping it cancels the export', async () => {
  // This service has no worker, so the export is never written.
  const waiting = await startService({ REELFEED_ROLES: 'api' });
  const own = { REELFEED_PUBLIC_URL: waiting.url, REELFEED_SECRET_KEY: waiting.secretKey };
  const running = startCommand(['export', 'events'], { env: own, cwd });
  const status = async () => {
    const { body } = await waiting.call('GET', '/v1/exports');
    return body.data[0]?.status as string | undefined;
  };
  await eventually('the export', async () => ((await status()) === 'pending' ? true : null));
  running.child.kill('SIGINT');
  const { code, stderr } = await running.ended;
  assert.equal(code, 2);
  assert.match(stderr, /cancelled/);
  assert.equal(await status(), 'cancelled');
});
