/** Proves that hostile files reach nothing but themselves, and that damaged ones end in an answer. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cagedNode, findCage } from './cage.ts';
import type { MediaTask } from './tasks.ts';
import { flippedFile, hostileFiles, type HostileFile } from './testing/hostile-files.ts';
import { workFolder } from './testing/run-task.ts';
import { tryFile } from './testing/try-file.ts';

const DEADLINE_MS = 120_000;
const CHILD_SCRIPT = fileURLToPath(new URL('./child/main.ts', import.meta.url));
const TRACED = 'trace=execve,open,openat,openat2,creat,socket,connect,bind,sendto';
const hasStrace = spawnSync('strace', ['-V']).status === 0;

await using work = await workFolder();
const otherJob = join(work.path, 'other-job.mp4');
await writeFile(otherJob, 'another job');
const files = await hostileFiles(work.path, otherJob);

test('every hostile file ends in ready or in an error about its bytes', async (t) => {
  const refused = /^(UNSUPPORTED_MEDIA|CORRUPT_MEDIA|TOO_LONG)$/;
  for (const file of files) {
    const outcome = await tryFile(file, DEADLINE_MS);
    t.diagnostic(`${file.name}: ${outcome}`);
    assert.ok(outcome === 'ready' || refused.test(outcome), `${file.name}: ${outcome}`);
    const isScript = /^(playlist|concat)/.test(file.name);
    if (isScript) assert.equal(outcome, 'UNSUPPORTED_MEDIA', file.name);
    if (file.name === 'ten-hours.mp4') {
      assert.equal(outcome, 'TOO_LONG');
      assert.ok(file.bytes.length < 100_000);
    }
  }
});

/** Runs the child on a file under strace. @returns the lines of the child and of its threads */
async function trace(file: HostileFile, folder: string): Promise<string[]> {
  const sourcePath = join(folder, file.name);
  const outputDir = join(folder, 'out');
  const traces = join(folder, 'traces');
  await mkdir(outputDir);
  await mkdir(traces);
  await writeFile(sourcePath, file.bytes);
  const contents = {
    readable: [sourcePath],
    writable: [outputDir],
    cwd: outputDir,
    deadlineMs: DEADLINE_MS,
  };
  const args = ['--disable-warning=ExperimentalWarning', CHILD_SCRIPT, '0'];
  await using command = await cagedNode(await findCage(), args, contents);
  const child = spawn(
    'strace',
    ['-ff', '-o', join(traces, 't'), '-e', TRACED, command.file, ...command.args],
    {
      cwd: outputDir,
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    },
  );
  const task: MediaTask = {
    type: 'prepare',
    sourcePath,
    outputDir,
    maxDurationSeconds: 600,
    quality: 'basic',
  };
  child.send(task);
  await once(child, 'exit');
  const lines: string[] = [];
  for (const name of await readdir(traces)) {
    const all = (await readFile(join(traces, name), 'utf8')).split('\n');
    const start = all.findLastIndex((line) => line.startsWith('execve('));
    // A thread of the child has no execve; the shell's helpers have one that names no script.
    if (start === -1 || all[start]?.includes(CHILD_SCRIPT)) lines.push(...all.slice(start + 1));
  }
  return lines;
}

test(
  'a trace of the child shows no connection and no file outside of the job and the runtime',
  { skip: hasStrace ? false : 'strace is not installed' },
  async (t) => {
    const allowed = new RegExp(
      `^(/(dev|proc|sys|lib|lib64|usr/lib)/|/etc/ld\\.so\\.cache|/etc/localtime|.*/node_modules/|.*/server/(src|package\\.json)|.*/package\\.json)`,
    );
    let opened = 0;
    for (const file of files.filter(({ name }) => !/tenths|ten-hours/.test(name))) {
      await using folder = await workFolder();
      for (const line of await trace(file, folder.path)) {
        const name = `${file.name}: ${line}`;
        assert.ok(!/^(connect|bind|sendto)\(/.test(line), name);
        assert.ok(!line.startsWith('socket(') || /= -1 /.test(line), name);
        assert.ok(!/passwd|127\.0\.0\.1|other-job|cron/.test(line.replace(file.name, '')), name);
        const path = /^open(?:at2?)?\((?:AT_FDCWD, )?"([^"]*)".* = \d+$/.exec(line)?.[1];
        if (path === undefined) continue;
        opened += 1;
        const isOfJob = path.startsWith(folder.path) || !path.startsWith('/');
        assert.ok(isOfJob || allowed.test(path), name);
      }
    }
    t.diagnostic(`${opened} files opened`);
    assert.ok(opened > 100, 'the trace saw the child');
  },
);

test('files with flipped bytes end in an answer, and the service does not grow', async (t) => {
  const before = process.memoryUsage().rss;
  for (let seed = 1; seed <= 8; seed += 1) {
    const outcome = await tryFile(await flippedFile(seed), DEADLINE_MS);
    t.diagnostic(`${seed}: ${outcome}`);
    assert.match(outcome, /^(ready|UNSUPPORTED_MEDIA|CORRUPT_MEDIA|TOO_LONG)$/);
  }
  assert.ok(process.memoryUsage().rss - before < 100 * 1024 ** 2);
});
