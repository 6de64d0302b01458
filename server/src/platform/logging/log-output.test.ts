/** Proves that a log which can't be written causes no failure, no waiting and no memory growth. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, openSync, closeSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./failing-log.fixture.ts', import.meta.url));
const run = (stderr: number | 'pipe') =>
  spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script], {
    stdio: ['ignore', 'pipe', stderr],
  });

/** The fixture logs 16 MB, reports how many lines were dropped, and exits. */
async function outcome(child: ReturnType<typeof run>): Promise<{ dropped: number; code: unknown }> {
  const closed = new Promise((resolve) => child.once('close', resolve));
  assert.ok(child.stdout !== null);
  const said = await text(child.stdout);
  return { dropped: Number(said), code: await closed };
}

test(
  'on a full disk lines are dropped and counted, and the process ends in time',
  {
    skip: existsSync('/dev/full') ? false : 'no /dev/full',
  },
  async () => {
    const full = openSync('/dev/full', 'w');
    const child = run(full);
    closeSync(full);
    const startedAt = performance.now();
    const { dropped, code } = await outcome(child);
    assert.equal(code, 0);
    assert.ok(dropped > 20_000 && dropped < 60_000, `${dropped} lines`);
    assert.ok(performance.now() - startedAt < 15_000);
  },
);

test('a reader that is gone costs lines, not the process', async () => {
  const child = run('pipe');
  child.stderr?.destroy();
  const { dropped, code } = await outcome(child);
  assert.equal(code, 0);
  assert.ok(dropped > 20_000 && dropped < 60_000, `${dropped} lines`);
});
