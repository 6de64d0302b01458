/** Runs the commands of docs/events.md verbatim. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { createItem } from '../../../test/seed.ts';
import { eventually, startService } from '../../../test/service.ts';
import { openStoredEvents } from '../../../test/stored-events.ts';

const guide = await readFile(new URL('../../../../docs/events.md', import.meta.url), 'utf8');
const commands = [...guide.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
const service = await startService({ REELFEED_ROLES: 'api,worker' });
const { id } = await createItem(service);

async function run(command: string): Promise<{ code: number; output: string }> {
  const child = spawn('sh', ['-c', command], {
    env: {
      PATH: process.env['PATH'],
      REELFEED: service.url,
      PUBLISHABLE_KEY: service.publishableKey,
      SECRET_KEY: service.secretKey,
      CONTENT_ID: id,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}

test('every command of the guide does what it says', async (t) => {
  if ((await run('curl --version')).code !== 0) return t.skip('there is no curl');
  const stored = await openStoredEvents(service);
  const [single = '', batch = '', packed = '', tail = '', erase = '', ...others] = commands;
  assert.deepEqual(others, []);
  assert.match((await run(single)).output, /"received":true/);
  assert.match((await run(batch)).output, /"received":1,"failed":1,.*"code":"NOT_FOUND"/);
  assert.match((await run(packed)).output, /"received":1/);
  assert.deepEqual(
    (await stored.fresh()).map(({ event }) => event),
    ['playStart', 'impression', 'save'],
  );
  const rejection = /event: event\ndata: \{"status":"rejected".*"eventId":"like-1"/;
  await eventually('the tail to show what comes while it is open', async () => {
    let hasEnded = false;
    const shown = run(tail).finally(() => (hasEnded = true));
    while (!hasEnded) await run(batch);
    return rejection.test((await shown).output) ? true : null;
  });
  const erased = await run(erase);
  assert.equal(erased.code, 0);
  assert.match(erased.output, /"userId":"ada","status":"(pending|complete)"/);
});
