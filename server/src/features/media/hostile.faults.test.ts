/** Runs the whole hostile corpus; `hostile.test.ts` covers one file of each kind. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { hostileFiles } from './testing/hostile-files.ts';
import { workFolder } from './testing/run-task.ts';
import { hasStrace, traceFile } from './testing/trace.ts';
import { assertAnswered } from './testing/try-file.ts';

const DEADLINE_MS = 120_000;

const work = await workFolder();
after(() => work[Symbol.asyncDispose]());
const otherJob = join(work.path, 'other-job.mp4');
await writeFile(otherJob, 'another job');
const files = await hostileFiles(work.path, otherJob, /./);

test('every hostile file ends in ready or in an error about its bytes', async (t) => {
  assert.equal(files.length, 25);
  for (const file of files) t.diagnostic(await assertAnswered(file, DEADLINE_MS));
});

test(
  'a trace of the child shows no connection and no file outside of the job and the runtime',
  { skip: hasStrace ? false : 'strace is not installed' },
  async (t) => {
    let total = 0;
    for (const file of files) {
      const { escapes, opened } = await traceFile(file);
      assert.deepEqual(escapes, [], file.name);
      total += opened;
    }
    t.diagnostic(`${total} files opened`);
    assert.ok(total > 100 * files.length, 'the trace saw the child');
  },
);
