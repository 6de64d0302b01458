import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { mediaSample } from '../../../test/media-samples.ts';
import { MediaError } from './media.ts';
import { prepareSample, workFolder, type WorkFolder } from './testing/run-task.ts';
import { eventually, stays } from '../../../test/waiting.ts';

const isLinux = process.platform === 'linux';

type Process = {
  readonly pid: number;
  readonly parentPid: number;
  readonly command: readonly string[];
};

async function processes(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  return Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      const parentPid = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      return { pid: Number(pid), parentPid, command: command.split('\0') };
    }),
  );
}

/** All media children among the direct and indirect descendants of a process, including zombies. */
async function mediaProcesses(rootPid: number): Promise<Process[]> {
  const all = await processes();
  const family = new Set([rootPid]);
  for (let size = 0; size < family.size;) {
    size = family.size;
    for (const { pid, parentPid } of all) if (family.has(parentPid)) family.add(pid);
  }
  return all.filter(
    ({ pid, command }) => family.has(pid) && command.some((part) => part.endsWith('child/main.ts')),
  );
}

function childOf(parentPid: number): Promise<number> {
  return eventually('a media child', async () => {
    const found = await mediaProcesses(parentPid);
    // The found process may be a wrapper that builds the cage.
    return found.find(({ command }) => command[0]?.endsWith('/node') === true)?.pid ?? null;
  });
}

/** Also true for a zombie, which still has an entry in /proc. */
async function isAlive(pid: number): Promise<boolean> {
  return access(`/proc/${pid}`).then(
    () => true,
    () => false,
  );
}

/** Runs a long task and returns its error, after checking that no process is left. */
async function failedTask(
  folder: WorkFolder,
  options: Parameters<typeof prepareSample>[2],
  during: () => Promise<void> = async () => {},
): Promise<unknown> {
  const task = prepareSample(folder, 'full-hd.mp4', options).then(
    () => assert.fail('the task succeeded'),
    (error: unknown) => error,
  );
  await during();
  const error = await task;
  await assert.rejects(access(join(folder.path, 'prepared')), 'the output is removed');
  if (isLinux) assert.deepEqual(await mediaProcesses(process.pid), [], 'no child, no zombie');
  return error;
}

function assertRetryable(error: unknown, message: RegExp): void {
  assert.ok(error instanceof MediaError);
  assert.equal(error.code, 'PROCESSING_FAILED');
  assert.equal(error.retryable, true);
  assert.match(error.message, message);
}

test('a task past its deadline is killed', async () => {
  await using folder = await workFolder();
  await mediaSample('full-hd.mp4');
  const startMs = performance.now();
  assertRetryable(await failedTask(folder, { deadlineMs: 700 }), /longer than allowed/);
  assert.ok(performance.now() - startMs < 15_000);
});

test('a task that stands still is killed', { skip: !isLinux }, async () => {
  await using folder = await workFolder();
  const error = await failedTask(folder, { stallMs: 1_500 }, async () => {
    process.kill(await childOf(process.pid), 'SIGSTOP');
  });
  assertRetryable(error, /stalled/);
});

test('a task that grows too large is killed', async () => {
  await using folder = await workFolder();
  const error = await failedTask(folder, { memoryLimitBytes: 150 * 1024 ** 2 });
  assertRetryable(error, /more memory/);
});

test('a crash of the child is a retryable failure', { skip: !isLinux }, async () => {
  await using folder = await workFolder();
  const error = await failedTask(folder, {}, async () => {
    process.kill(await childOf(process.pid), 'SIGSEGV');
  });
  assertRetryable(error, /unexpectedly/);
  assert.ok(error instanceof MediaError);
  assert.match(error.detail, /SIGSEGV|exit code 139/);
});

test('an abort kills the child and rejects with its reason', async () => {
  await using folder = await workFolder();
  const controller = new AbortController();
  const reason = new Error('the service stops');
  const error = await failedTask(folder, { signal: controller.signal }, async () => {
    await childOf(process.pid);
    controller.abort(reason);
  });
  assert.equal(error, reason);
});

test('a signal that is aborted already starts nothing', async () => {
  await using folder = await workFolder();
  const reason = new Error('too late');
  assert.equal(await failedTask(folder, { signal: AbortSignal.abort(reason) }), reason);
});

test('the child dies with its parent, even when that is killed', { skip: !isLinux }, async () => {
  await using folder = await workFolder();
  const script = join(folder.path, 'parent.ts');
  const media = pathToFileURL(join(import.meta.dirname, 'media.ts')).href;
  const task = {
    type: 'prepare',
    quality: 'basic',
    sourcePath: await mediaSample('full-hd.mp4'),
    outputDir: join(folder.path, 'prepared'),
    maxDurationSeconds: 600,
  };
  await writeFile(
    script,
    `import { runMediaTask } from ${JSON.stringify(media)};
    await runMediaTask(${JSON.stringify(task)}, {
      deadlineMs: 60000, stallMs: 60000, memoryLimitBytes: 4e9, signal: AbortSignal.any([]),
    });`,
  );
  const parent = spawn(process.execPath, [script], { stdio: 'ignore' });
  const exit = once(parent, 'exit');
  const childPid = await childOf(parent.pid ?? 0);
  await stays('the life of the child', () => isAlive(childPid), true, 500);
  parent.kill('SIGKILL');
  await exit;
  await eventually('the end of the child', async () => ((await isAlive(childPid)) ? null : true));
});

test(
  'the child sees nothing of the environment and works at low priority',
  { skip: !isLinux },
  async () => {
    await using folder = await workFolder();
    process.env['REELFEED_TEST_SECRET'] = 'do-not-inherit';
    let environment = '';
    const seen = new AbortController();
    await failedTask(folder, { signal: seen.signal, niceness: 10 }, async () => {
      const pid = await childOf(process.pid);
      await eventually('the lower priority', async () => {
        const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
        return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16] === '10' ? true : null;
      });
      environment = await readFile(`/proc/${pid}/environ`, 'utf8');
      seen.abort(new Error('seen enough'));
    });
    delete process.env['REELFEED_TEST_SECRET'];
    assert.ok(environment.includes('UV_THREADPOOL_SIZE'));
    assert.ok(!environment.includes('do-not-inherit'));
  },
);
