/**
 * Proves that a repository stores media once, opens with just its passphrase, and prunes old
 * backups.
 */
import assert from 'node:assert/strict';
import { mkdir, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { temporaryFolder } from '../../../test/service.ts';
import { ConfigurationError } from '../settings/settings.ts';
import { openDiskStorage } from '../storage/disk-storage.ts';
import type { Storage } from '../storage/storage.ts';
import { beginningOf, newBackupId, writeManifest, type Manifest } from './manifest.ts';
import { MediaIndex, writeLines } from './media-index.ts';
import { openRepository, type Repository } from './repository.ts';
import { pruneRepository } from './retention.ts';

const passphrase = 'correct horse battery';
const put = (storage: Storage, key: string, text: string) =>
  storage.put(key, Readable.from([Buffer.from(text)]));

async function stores() {
  const folder = await temporaryFolder();
  const place = await openDiskStorage(path.join(folder, 'place'));
  return { folder, place, media: await openDiskStorage(path.join(folder, 'media')) };
}

/** Takes a backup of the current media, dated `at`. */
async function record(repository: Repository, media: Storage, at: Date): Promise<string> {
  const index = await MediaIndex.open(repository);
  await index.pass(media);
  await index.save();
  const id = newBackupId(at);
  const list = await writeLines(repository, `backups/${id}/media.ndjson.zst`, index.entries());
  const manifest = { format: 2, tables: [], media: { ...list, files: 0 } } as unknown as Manifest;
  await writeManifest(repository, id, manifest);
  return id;
}

test('media are read and stored once, by their bytes, and open with the passphrase alone', async () => {
  const { place, media } = await stores();
  const open = (given: string | null) =>
    openRepository(place, { place: 'here', passphrase: given, create: true });
  const repository = await open(passphrase);
  await put(media, 'a/1', 'same');
  await put(media, 'a/2', 'same');
  await put(media, 'b', 'other');
  const index = await MediaIndex.open(repository);
  await index.pass(media);
  assert.deepEqual(index.added, { files: 2, bytes: 9 });
  await index.save();
  const again = await MediaIndex.open(await open(passphrase));
  await put(media, 'b', 'newer');
  await media.remove('a/2');
  await again.pass(media);
  assert.deepEqual(again.added, { files: 1, bytes: 5 });
  const entries = [...again.entries()];
  assert.deepEqual(entries.map(({ key }) => key).toSorted(), ['a/1', 'b']);
  assert.equal([...again.entries(60_000)].length, 3, 'what went a moment ago is still restored');
  for (const { key, path: stored } of entries) {
    const opened = await repository.read(stored);
    const plain = opened === null ? null : await buffer(opened);
    assert.equal(plain?.toString(), key === 'b' ? 'newer' : 'same');
    const raw = await place.read(stored);
    assert.ok(raw !== null && !(await buffer(raw.stream)).includes('same'));
  }
  await assert.rejects(open(null), /is encrypted\. Set REELFEED_BACKUP_PASSPHRASE/);
  await assert.rejects(open('another passphrase'), /is not the passphrase of/);
  const plain = (await stores()).place;
  await openRepository(plain, { place: 'here', passphrase: null, create: true });
  const late = openRepository(plain, { place: 'here', passphrase, create: true });
  await assert.rejects(late, ConfigurationError);
});

test('retention keeps the newest, what it needs, and nothing else', async () => {
  const { place, media } = await stores();
  const repository = await openRepository(place, { place: 'x', passphrase: null, create: true });
  const day = 24 * 3_600_000;
  const now = Date.now();
  const ago = (days: number) => new Date(now - days * day);
  await put(media, 'gone', 'only in the oldest');
  await put(media, 'stays', 'always there');
  const oldest = await record(repository, media, ago(40));
  await media.remove('gone');
  const kept = await record(repository, media, ago(10));
  const newest = await record(repository, media, ago(1));
  const cutShort = newBackupId(ago(3));
  await repository.putJson(`backups/${cutShort}/database/x`, {});
  const running = newBackupId(ago(0.1));
  await repository.putJson(`backups/${running}/database/x`, {});
  assert.equal(Math.round((now - beginningOf(oldest)) / day), 40);

  // Bytes of deleted files are kept for as far back as `restore --to` reaches.
  const later = now + 1_000;
  assert.equal(
    await pruneRepository(repository, { backupsMs: 20 * day, recoveryMs: day }, later),
    2,
  );
  const keys = async () => (await Array.fromAsync(place.list(''))).map(({ key }) => key);
  assert.equal((await keys()).filter((key) => key.startsWith('media/')).length, 2);
  assert.equal(await pruneRepository(repository, { backupsMs: 20 * day, recoveryMs: 0 }, later), 0);
  const left = await keys();
  assert.equal(left.filter((key) => key.startsWith('media/')).length, 1);
  for (const id of [kept, newest, running])
    assert.ok(
      left.some((key) => key.includes(id)),
      id,
    );
  assert.ok(!left.some((key) => key.includes(oldest) || key.includes(cutShort)));
  await pruneRepository(repository, { backupsMs: 1, recoveryMs: 0 }, later);
  assert.ok(
    (await keys()).some((key) => key.includes(newest)),
    'the newest stays',
  );
});

test('a second backup of large files takes a twentieth of the time of the first', async () => {
  const { folder, place, media } = await stores();
  const objects = path.join(folder, 'media', 'objects', 'large');
  await mkdir(objects);
  for (let n = 0; n < 4; n += 1) {
    // Sparse files take no disk space; their first bytes differ.
    const file = path.join(objects, `${n}.mp4`);
    await writeFile(file, `video ${n}`);
    await truncate(file, 64 * 2 ** 20);
  }
  const repository = await openRepository(place, { place: 'x', passphrase: null, create: true });
  const timed = async () => {
    const startedAt = performance.now();
    await record(repository, media, new Date());
    return performance.now() - startedAt;
  };
  const first = await timed();
  const second = await timed();
  assert.ok(second <= first / 20, `${second.toFixed()} ms after ${first.toFixed()} ms`);
});
