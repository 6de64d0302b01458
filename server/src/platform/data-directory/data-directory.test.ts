import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { after, before, describe, it } from 'node:test';
import { claimDataDirectory, DataDirectoryError } from './data-directory.ts';

const fixture = join(import.meta.dirname, 'data-directory.fixture.ts');

/** Starts a process that tries to claim the directory, and waits for its report. */
async function startClaimant(path: string): Promise<{ child: ChildProcess; answer: string }> {
  const child = spawn(process.execPath, [fixture, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [answer]: unknown[] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, answer: String(answer) };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

describe('the data directory', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reelfeed-lock-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('is created for its owner alone', async () => {
    const path = join(folder, 'new', 'data');
    await using directory = await claimDataDirectory(path);
    assert.equal((await stat(directory.path)).mode & 0o777, 0o700);
  });

  it('refuses a second owner by the name of the first, also through another path', async () => {
    const path = join(folder, 'second');
    const { child, answer } = await startClaimant(path);
    try {
      assert.match(answer, /claimed/);
      await symlink(path, join(folder, 'alias'));
      for (const way of [path, join(folder, 'alias')]) {
        await assert.rejects(claimDataDirectory(way), (error: unknown) => {
          assert.ok(error instanceof DataDirectoryError);
          assert.match(error.message, new RegExp(`in use by process ${child.pid} on `));
          return true;
        });
      }
    } finally {
      await kill(child);
    }
  });

  it('refuses a second claim of the same process, and allows one after the release', async () => {
    const path = join(folder, 'same');
    {
      await using first = await claimDataDirectory(path);
      await assert.rejects(claimDataDirectory(first.path), DataDirectoryError);
    }
    await using again = await claimDataDirectory(path);
    assert.equal((await stat(again.path)).isDirectory(), true);
  });

  it('is free as soon as its owner has crashed, whatever the owner file says', async () => {
    const path = join(folder, 'killed');
    const { child } = await startClaimant(path);
    child.kill('SIGKILL');
    // Does not wait for the process to end, like `kill -9; start` in a script.
    {
      await using directory = await claimDataDirectory(path);
      const owner = await readFile(join(directory.path, 'owner.json'), 'utf8');
      assert.match(owner, new RegExp(`"pid":${process.pid},`));
    }
    const recycled = { pid: 1, host: 'elsewhere', since: '2020-01-01T00:00:00.000Z' };
    await writeFile(join(path, 'owner.json'), JSON.stringify(recycled));
    await using directory = await claimDataDirectory(path);
    assert.ok(directory);
  });

  it('has exactly one winner among simultaneous starts', async () => {
    for (let round = 0; round < 3; round++) {
      const path = join(folder, `race-${round}`);
      const claimants = await Promise.all(Array.from({ length: 4 }, () => startClaimant(path)));
      await Promise.all(claimants.map(({ child }) => kill(child)));
      const winners = claimants.filter(({ answer }) => answer.includes('claimed'));
      assert.equal(winners.length, 1, claimants.map(({ answer }) => answer).join('\n'));
    }
  });

  it('says what is wrong with a path that cannot be a directory', async () => {
    await writeFile(join(folder, 'file'), '');
    await assert.rejects(claimDataDirectory(join(folder, 'file')), /cannot be used/);
    await assert.rejects(claimDataDirectory(join(folder, 'two\nlines')), /line break/);
  });

  it('stops waiting when the start is aborted', async () => {
    await using first = await claimDataDirectory(join(folder, 'aborted'));
    const reason = new Error('stop');
    await assert.rejects(claimDataDirectory(first.path, AbortSignal.abort(reason)), reason);
  });
});
