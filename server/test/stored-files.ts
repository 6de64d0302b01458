/** Files of a service on disk. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { absentAsNull } from '../src/platform/storage/storage-errors.ts';
import { query } from './seed.ts';
import { eventually, type TestService } from './service.ts';

/** Paths of the files in a part of the storage, relative to it. */
export async function storedFiles(
  { dataDir }: Pick<TestService, 'dataDir'>,
  part: 'objects' | 'work' | 'trash',
): Promise<string[]> {
  const root = path.join(dataDir, 'media', part);
  const entries = await eventually('a look at the files between two removals', async () =>
    readdir(root, { recursive: true, withFileTypes: true }).catch(absentAsNull),
  );
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .toSorted();
}

/**
 * Runs a request that must be rejected, and checks that it leaves no item, stored file or work
 * file.
 */
export async function assertNothingLeft(
  service: TestService,
  work: () => Promise<void>,
): Promise<void> {
  const count = 'select count(*)::int as items from content';
  const before = [await storedFiles(service, 'objects'), await query(service, count)];
  await work();
  await eventually('work files to go', async () =>
    (await storedFiles(service, 'work')).length === 0 ? true : null,
  );
  const after = [await storedFiles(service, 'objects'), await query(service, count)];
  assert.deepEqual(after, before);
}
