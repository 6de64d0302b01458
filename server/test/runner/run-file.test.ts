/** Proves that a file that ends abnormally counts as failed, with a reason. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { eventually } from '../waiting.ts';
import { runFile, type Outcome } from './run-file.ts';

const root = await mkdtemp(path.join(os.tmpdir(), 'reelfeed-test-'));
after(() => rm(root, { recursive: true, force: true }));

async function outcomeOf(text: string, timeoutMs = 60_000): Promise<Outcome> {
  const file = 'example.test.mjs';
  const head =
    "import assert from 'node:assert/strict';\nimport { after, suite, test } from 'node:test';\n";
  await writeFile(path.join(root, file), head + text);
  // Node does not run test files from within a test file, which it detects by this variable.
  const context = process.env['NODE_TEST_CONTEXT'];
  delete process.env['NODE_TEST_CONTEXT'];
  try {
    return await runFile(file, { root, timeoutMs, report: () => undefined });
  } finally {
    if (context !== undefined) process.env['NODE_TEST_CONTEXT'] = context;
  }
}

const messages = ({ failures }: Outcome) =>
  failures.map(({ test: name, message }) => [name, message]);

test('a failure is reported with its test and its message, but not its parents', async () => {
  const outcome = await outcomeOf(`
    suite('outer', () => { test('inner', () => assert.equal(1, 2)); test('other', () => {}); });
    test('left out', { skip: true }, () => {});
  `);
  assert.deepEqual([outcome.passed, outcome.failed, outcome.skipped], [1, 1, 1]);
  assert.deepEqual(messages(outcome), [['inner', 'Expected values to be strictly equal: 1 !== 2']]);
});

test('a failing clean-up is a failure', async () => {
  const outcome = await outcomeOf(
    "test('fine', () => {}); after(() => { throw new Error('still open'); });",
  );
  assert.equal(outcome.failed, 1);
  assert.deepEqual(messages(outcome)[0]?.[1], 'still open');
});

test('a file that exits in the middle of a test has failed, whatever its exit code', async () => {
  for (const end of ['process.exit(0)', "process.kill(process.pid, 'SIGKILL')"]) {
    const outcome = await outcomeOf(
      `test('first', () => {}); test('second', async () => { ${end}; });`,
    );
    assert.equal(outcome.failed, 1, end);
    assert.equal(outcome.passed, 0, end);
  }
});

test('a file without tests, or with a syntax error, has failed', async () => {
  assert.equal((await outcomeOf('')).failed, 1);
  assert.equal((await outcomeOf('test(')).failed, 1);
});

test('a file that keeps something open is ended after its time limit, and has failed', async () => {
  const outcome = await outcomeOf("test('fine', () => {}); setInterval(() => {}, 1000);", 3_000);
  assert.equal(outcome.failed, 1);
  assert.match(outcome.failures[0]?.message ?? '', /aborted due to timeout/);
});

test(
  'a leftover process fails the file and is killed',
  { skip: process.platform !== 'linux' },
  async () => {
    const outcome = await outcomeOf(`
    import { spawn } from 'node:child_process';
    test('starts one', () => {
      spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).unref();
    });
  `);
    assert.equal(outcome.failed, 1);
    const message = outcome.failures[0]?.message ?? '';
    assert.match(message, /left processes behind: \d+ sleep 600/);
    const pid = Number(/(\d+) sleep/.exec(message)?.[1]);
    // After the signal, the process may need a moment to end.
    await eventually('its end', async () => {
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      return command === '' ? true : null;
    });
  },
);
