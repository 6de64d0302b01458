/** Proves that the first start's printed instructions work as printed. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { cloneDatabase } from './database.ts';
import { mediaSample } from './media-samples.ts';
import { ready, startMain } from './processes.ts';
import { eventually, temporaryFolder, toUrl } from './service.ts';

test('the first start prints the next steps in four lines, and each of them works', async () => {
  const cwd = await temporaryFolder();
  const env = {
    PORT: '0',
    REELFEED_DATA_DIR: path.join(cwd, 'data'),
    DATABASE_URL: toUrl(await cloneDatabase()),
    REELFEED_LOG_LEVEL: 'error',
    REELFEED_MIN_FREE_BYTES: '0',
  };
  const started = startMain({ env, cwd });
  await ready(started);
  const steps = await eventually('the steps', async () => {
    const lines = started.output.stdout.match(/^ {2}[1-4]\. .{17}(.*)$/gm);
    return lines?.length === 4 ? lines.map((line) => line.slice(21)) : null;
  });
  const [upload = '', watch = '', look = '', embed = ''] = steps;

  await copyFile(await mediaSample('small.mp4'), path.join(cwd, 'clip.mp4'));
  const { stdout } = await promisify(execFile)('sh', ['-c', upload], { cwd });
  assert.equal(JSON.parse(stdout).data.title, 'My first clip');
  assert.equal((await fetch(watch)).status, 200);
  assert.equal((await fetch(look.split(' ')[0] ?? '')).status, 200);
  const script = /src="([^"]+)"/.exec(embed)?.[1] ?? '';
  assert.match(await (await fetch(script)).text(), /reelfeed-feed/);

  started.child.kill('SIGTERM');
  await started.ended;
  const again = startMain({ env, cwd });
  await ready(again);
  assert.doesNotMatch(again.output.stdout, /rf_sk_|Next steps/);
});
