/**
 * Proves that a second backup costs only as much as the new data: 20 GB of media, made of sparse
 * files.
 */
import assert from 'node:assert/strict';
import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { cloneDatabase } from '../../../test/database.ts';
import { temporaryFolder } from '../../../test/service.ts';
import { openDiskStorage } from '../storage/disk-storage.ts';
import { openRepository } from './repository.ts';
import { takeBackup } from './take-backup.ts';

const files = 200;
const fileBytes = 100 * 2 ** 20;
const maxShare = 0.05;

/** A sparse file of zeros, except for its first bytes. */
async function makeSparse(file: string, head: string): Promise<void> {
  await using handle: FileHandle = await open(file, 'w');
  await handle.truncate(fileBytes);
  await handle.write(head);
}

test('a second backup of 20 GB takes at most 5 % of the time of the first', async (t) => {
  const folder = await temporaryFolder();
  const connection = await cloneDatabase();
  const storage = await openDiskStorage(path.join(folder, 'media'));
  const add = async (name: string, head: string) => {
    const file = path.join(folder, 'sparse');
    await makeSparse(file, head);
    await storage.put(`clips/${name}.mp4`, { path: file });
  };
  // All files are read, but only four distinct contents are stored, which saves disk space in the
  // test.
  for (let at = 0; at < files; at += 1) await add(`${at}`, `clip ${at % 4}`);
  const place = path.join(folder, 'place');
  const options = { place, passphrase: null, create: true };
  const repository = await openRepository(await openDiskStorage(place), options);
  const back = async () => {
    const startedAt = performance.now();
    const { added, manifest } = await takeBackup(
      { connection, storage, stream: null, version: '1' },
      repository,
      null,
    );
    const { media } = manifest;
    const listed = Array.isArray(media) ? media.length : media.files;
    return { seconds: (performance.now() - startedAt) / 1_000, added: added.files, listed };
  };
  const first = await back();
  assert.deepEqual([first.added, first.listed], [4, files]);
  await add('new', 'a new clip');
  const second = await back();
  assert.deepEqual([second.added, second.listed], [1, files + 1]);
  const share = second.seconds / first.seconds;
  t.diagnostic(
    `first ${first.seconds.toFixed(1)} s, second ${second.seconds.toFixed(2)} s: ${(share * 100).toFixed(1)} %`,
  );
  assert.ok(share <= maxShare, `${(share * 100).toFixed(1)} % is above ${maxShare * 100} %`);
});
