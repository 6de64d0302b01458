/**
 * Proves that hostile files can access nothing but themselves, and that damaged files get a result.
 * Covers one of each kind; `hostile.faults.test.ts` runs the whole corpus.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { flippedFile, hostileFiles, type HostileFile } from './testing/hostile-files.ts';
import { workFolder } from './testing/run-task.ts';
import { hasStrace, traceFile } from './testing/trace.ts';
import { assertAnswered, tryFile } from './testing/try-file.ts';

const DEADLINE_MS = 120_000;
const KINDS =
  /^(playlist-loopback|concat-other-job|attachment|second-chunk|16k|endless-frames|200-tracks|ten-hours|cut-at-5)/;
const TRACED = /^(concat-passwd|attachment|external-track)/;
/** The last one declares a packet larger than any memory. */
const FLIPPED_SEEDS = [1, 2, 3, 1_024];

const work = await workFolder();
after(() => work[Symbol.asyncDispose]());
const otherJob = join(work.path, 'other-job.mp4');
await writeFile(otherJob, 'another job');

test('a hostile file of each kind ends in ready or in an error about its bytes', async (t) => {
  const files = await hostileFiles(work.path, otherJob, KINDS);
  assert.equal(files.length, 9);
  for (const file of files) t.diagnostic(await assertAnswered(file, DEADLINE_MS));
});

test(
  'a trace of the child shows no connection and no file outside of the job and the runtime',
  { skip: hasStrace ? false : 'strace is not installed' },
  async () => {
    for (const file of await hostileFiles(work.path, otherJob, TRACED)) {
      const { escapes, opened } = await traceFile(file);
      assert.deepEqual(escapes, [], file.name);
      assert.ok(opened > 100, `the trace saw ${opened} files of ${file.name}`);
    }
  },
);

test('files with flipped bytes end in an answer, and the service does not grow', async () => {
  const before = process.memoryUsage().rss;
  const flipped: HostileFile[] = await Promise.all(FLIPPED_SEEDS.map(flippedFile));
  for (const file of flipped) {
    const outcome = await tryFile(file, DEADLINE_MS);
    assert.match(outcome, /^(ready|UNSUPPORTED_MEDIA|CORRUPT_MEDIA|TOO_LONG)$/, file.name);
  }
  assert.ok(process.memoryUsage().rss - before < 100 * 1024 ** 2);
});
