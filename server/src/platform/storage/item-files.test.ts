/**
 * Proves that only jobs that declare it may write files of items, because a purge waits for them.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { silentLog } from '../../../test/database.ts';
import { defineJob } from '../queue/job-definition.ts';
import { done, handle, type JobContext } from '../queue/job-handler.ts';
import { openDiskStorage } from './disk-storage.ts';
import { guardItemFiles } from './item-files.ts';

const folder = await mkdtemp(path.join(os.tmpdir(), 'item-files-'));
after(() => rm(folder, { recursive: true }));
const storage = guardItemFiles(await openDiskStorage(folder));

const rules = {
  payload: Type.Object({ contentId: Type.String() }),
  timeoutMs: 1_000,
  retry: { maxAttempts: 1, delayMs: () => 0 },
  concurrency: 1,
};
const declared = defineJob({ ...rules, name: 'declared', writesFilesOf: 'contentId' });
const silent = defineJob({ ...rules, name: 'silent' });

const bytes = () => Readable.from([Buffer.from('bytes')]);
const writes = {
  put: (key: string) => storage.put(key, bytes()),
  putMany: (key: string) => storage.putMany([{ key, path: path.join(folder, 'absent') }]),
  join: (key: string) => storage.join(key, ['exports/part']),
};

async function inJob(job: typeof silent, write: () => Promise<void>): Promise<void> {
  const handled = handle(job, async () => {
    // The rule covers all code that the handler calls, at any time.
    await new Promise(setImmediate);
    await write();
    return done;
  });
  const context: JobContext = {
    jobId: 1,
    organizationId: 'org_1',
    attempt: 1,
    maxAttempts: 1,
    signal: new AbortController().signal,
    log: silentLog,
    finish: async () => undefined,
  };
  await handled.run({ contentId: 'item' }, context);
}

test('a job that does not declare it cannot write files of items', async () => {
  await storage.put('exports/part', bytes());
  for (const key of ['media/item/first/1.m4s', 'sources/item/original']) {
    for (const write of Object.values(writes)) {
      const attempt = inJob(silent, () => write(key));
      await assert.rejects(attempt, /The job silent writes .* does not declare `writesFilesOf`/);
      assert.equal(await storage.head(key), null);
    }
    await inJob(declared, () => writes.put(key));
    assert.equal((await storage.head(key))?.sizeBytes, 5);
    await writes.join(key);
  }
  await inJob(silent, () => writes.put('exports/file'));
});
