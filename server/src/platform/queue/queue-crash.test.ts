import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { after, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { silentLog } from '../../../test/database.ts';
import { done, handle } from './job-handler.ts';
import {
  add,
  effects,
  eventually,
  jobRows,
  openQueueDatabase,
  queueIsEmpty,
} from '../../../test/queue/queue.ts';
import { noteJob, quickTiming, writeEffect } from '../../../test/queue/queue-jobs.ts';
import { startQueueWorkers } from './queue-workers.ts';
import { pause } from '../../../test/waiting.ts';

const { db, connection } = await openQueueDatabase();
const script = fileURLToPath(new URL('../../../test/queue/worker-process.ts', import.meta.url));
const children = new Set<ChildProcess>();

after(() => {
  for (const child of children) child.kill('SIGKILL');
});
beforeEach(async () => {
  await sql`truncate job, effect`.execute(db);
});

function startProcess(exclusiveName: string, leaseMs: number): ChildProcess {
  const child = spawn(
    process.execPath,
    [script, JSON.stringify(connection), exclusiveName, `${leaseMs}`],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

/** Runs `hang` jobs to completion, under the given name. */
function startWorkers(exclusiveName?: string) {
  const handler = handle(noteJob('hang'), async ({ note }, context) => {
    await context.finish((tx) => writeEffect(tx, `${note} ${context.attempt}`));
    return done;
  });
  return startQueueWorkers({
    db,
    jobs: [handler],
    log: silentLog,
    timing: quickTiming,
    ...(exclusiveName === undefined ? {} : { exclusiveName }),
  });
}

async function killInMidJob(child: ChildProcess): Promise<void> {
  assert.ok(child.stdout !== null);
  await once(child.stdout, 'data');
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

describe('after kill -9 in mid-job', () => {
  test('another process takes over when the lease has run out; the attempt counts (3)', async () => {
    await add(db, noteJob('hang'), 'a');
    const child = startProcess('-', 2_000);
    await killInMidJob(child);
    const [row] = await jobRows(db);
    assert.deepEqual([row?.state, row?.attempts], ['running', 1]);
    const workers = startWorkers();
    await eventually('the job is gone', queueIsEmpty(db), 6_000);
    await workers[Symbol.asyncDispose]();
    assert.deepEqual(await effects(db), ['a 2']);
  });

  test('the next process of the same exclusive name does not wait for the lease', async () => {
    await add(db, noteJob('hang'), 'a');
    await killInMidJob(startProcess('the only one', 600_000));
    await using workers = startWorkers('the only one');
    await eventually('the job is gone', queueIsEmpty(db), 2_000);
    assert.deepEqual(await effects(db), ['a 2']);
    await workers[Symbol.asyncDispose]();
  });

  test('a process of another name does wait for it (2)', async () => {
    await add(db, noteJob('hang'), 'a');
    await killInMidJob(startProcess('one', 600_000));
    const workers = startWorkers('two');
    await pause(2_000, 'it looks for jobs all the time');
    await workers[Symbol.asyncDispose]();
    assert.deepEqual(
      (await jobRows(db)).map((row) => [row.state, row.worker]),
      [['running', 'one']],
    );
  });
});

test('a job that crashes its process uses up its attempts and lets others pass (3)', async () => {
  await add(db, noteJob('poison'), 'deadly', { runAt: new Date(Date.now() - 60_000) });
  await add(db, noteJob('work'), 'harmless');
  const attempts: (number | undefined)[] = [];
  for (let n = 0; n < 3; n += 1) {
    const child = startProcess('the only one', 600_000);
    await once(child, 'exit');
    attempts.push((await jobRows(db)).find((row) => row.name === 'poison')?.attempts);
  }
  assert.deepEqual(attempts, [1, 2, 3]);
  const survivor = startProcess('the only one', 600_000);
  await eventually('onExhausted has run', async () => (await effects(db)).length === 2);
  survivor.kill('SIGKILL');
  const [row] = await jobRows(db);
  assert.deepEqual([row?.state, row?.attempts], ['failed', 3]);
  assert.deepEqual(await effects(db), [
    'deadly failed: the worker the only one ended during attempt 3',
    'harmless',
  ]);
});
