/** The part of the conformance suite about publishing folders and adding files to them. */
import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { awaitedLater } from '../async/awaited-later.ts';
import {
  addFiles,
  facadeOf,
  failingAfter,
  folderOf,
  listKeys,
  putBytes,
  putFiles,
  readText,
  workFolder,
  type OpenStorage,
} from './conformance-helpers.ts';
import { addToFolder, publishFolder, readManifest } from './folders.ts';
import type { Storage } from './storage.ts';
import { KeyTakenError, PrefixMissingError, UnsafeSourceError } from './storage-errors.ts';

export function folderTests(openStorage: OpenStorage): void {
  test('a folder is published, listed and removed as a whole', async (t) => {
    const storage = await openStorage(t);
    const files = { 'master.m3u8': 'm', 'v0/0.ts': 'zero', 'v0/1.ts': 'one' };
    await putFiles(storage, t, 'org/item/attempt-1', files);
    await putBytes(storage, 'org/other', 'o');
    assert.equal(await readText(storage, 'org/item/attempt-1/v0/1.ts'), 'one');
    assert.deepEqual(await listKeys(storage, 'org/item'), [
      'org/item/attempt-1/manifest.json',
      'org/item/attempt-1/master.m3u8',
      'org/item/attempt-1/v0/0.ts',
      'org/item/attempt-1/v0/1.ts',
    ]);
    assert.deepEqual(await readManifest(storage, 'org/item/attempt-1'), {
      files: ['master.m3u8', 'v0/0.ts', 'v0/1.ts'],
    });
    assert.equal(await readManifest(storage, 'org/item'), null);
    assert.equal((await listKeys(storage, '')).length, 5);
    assert.deepEqual(await listKeys(storage, 'org/it'), []);
    await storage.removePrefix('org/item');
    await storage.removePrefix('org/item');
    assert.deepEqual(await listKeys(storage, ''), ['org/other']);
  });

  test('publishing to a used prefix fails and changes nothing', async (t) => {
    const storage = await openStorage(t);
    await putFiles(storage, t, 'item', { a: '1' });
    await assert.rejects(putFiles(storage, t, 'item', { a: '2', b: '2' }), KeyTakenError);
    assert.equal(await readText(storage, 'item/a'), '1');
    assert.deepEqual(await listKeys(storage, ''), ['item/a', 'item/manifest.json']);
    await storage.removePrefix('item');
    await putFiles(storage, t, 'item', { a: '3' });
    assert.equal(await readText(storage, 'item/a'), '3');
  });

  test('leftovers of a killed writer are not published, and publishing again completes them', async (t) => {
    const storage = await openStorage(t);
    const files = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, name]));
    const killed = failingAfter(storage, 2);
    await assert.rejects(publishFolder(killed, await folderOf(storage, t, files), 'item'), {
      message: 'killed',
    });
    assert.equal((await listKeys(storage, '')).length, 2);
    assert.equal(await readManifest(storage, 'item'), null);
    await putFiles(storage, t, 'item', files);
    assert.deepEqual(await readManifest(storage, 'item'), { files: ['a', 'b', 'c', 'd'] });
  });

  test('links, odd names and empty folders are never published', async (t) => {
    const storage = await openStorage(t);
    const publish = async (prepare: (folder: string) => Promise<void>): Promise<void> => {
      const { path: folder } = await workFolder(storage, t);
      await prepare(folder);
      await publishFolder(storage, folder, 'bad');
    };
    const link = async (folder: string): Promise<void> => {
      await writeFile(path.join(folder, 'ok.ts'), 'ok');
      await symlink('/etc/passwd', path.join(folder, 'seg.ts'));
    };
    const oddName = (folder: string): Promise<void> => writeFile(path.join(folder, '.env'), '');
    const onlyFolders = async (folder: string): Promise<void> => {
      await mkdir(path.join(folder, 'inner'));
    };
    for (const prepare of [link, oddName, onlyFolders, async () => undefined]) {
      await assert.rejects(publish(prepare), UnsafeSourceError);
    }
    const { path: folder } = await workFolder(storage, t);
    await symlink('/etc/passwd', path.join(folder, 'link'));
    const local = path.join(folder, 'link');
    await assert.rejects(storage.put('bad', { path: local }), UnsafeSourceError);
    await writeFile(path.join(folder, 'file'), 'ok');
    const files = [
      { key: 'file', path: path.join(folder, 'file') },
      { key: 'bad', path: local },
    ];
    await assert.rejects(storage.putMany(files), UnsafeSourceError);
    assert.deepEqual(await listKeys(storage, ''), []);
  });
}

export function additionTests(openStorage: OpenStorage, showsPartialPuts: boolean): void {
  const skip = showsPartialPuts ? 'the server shows a part of what is being put' : false;

  test('files are added to a prefix, and files named in `last` replace the old ones', async (t) => {
    const storage = await openStorage(t);
    await putFiles(storage, t, 'item', { 'master.m3u8': 'one rung', 'v0/0.ts': '0' });
    await addFiles(
      storage,
      t,
      'item',
      { 'master.m3u8': 'two rungs', 'v1/0.ts': '1', 'v1/deep/1.ts': '2' },
      ['master.m3u8'],
    );
    assert.equal(await readText(storage, 'item/master.m3u8'), 'two rungs');
    assert.equal(await readText(storage, 'item/v0/0.ts'), '0');
    assert.equal(await readText(storage, 'item/v1/deep/1.ts'), '2');
  });

  test('repeating an addition after a crash completes it', async (t) => {
    const storage = await openStorage(t);
    await putFiles(storage, t, 'item', { master: '1' });
    for (const master of ['2', '3']) {
      await addFiles(storage, t, 'item', { master, 'v1/0.ts': master }, ['master']);
    }
    assert.equal(await readText(storage, 'item/master'), '3');
    assert.equal(await readText(storage, 'item/v1/0.ts'), '3');
  });

  test('the manifest names old and new files', async (t) => {
    const storage = await openStorage(t);
    await putFiles(storage, t, 'item', { master: '1', a: '1' });
    await addFiles(storage, t, 'item', { master: '2', b: '2' }, ['master']);
    assert.deepEqual(await readManifest(storage, 'item'), { files: ['a', 'b', 'master'] });
  });

  test('a folder published before manifests existed gets one', async (t) => {
    const storage = await openStorage(t);
    await putBytes(storage, 'item/master', '1');
    await addFiles(storage, t, 'item', { master: '2', 'v1/0.ts': '2' }, ['master']);
    assert.deepEqual(await readManifest(storage, 'item'), { files: ['master', 'v1/0.ts'] });
  });

  test('a prefix that is removed during an addition does not come back', async (t) => {
    const storage = await openStorage(t);
    await putFiles(storage, t, 'item', { master: '1' });
    const removing: Storage = {
      ...facadeOf(storage),
      putMany: async (files, signal) => {
        await storage.removePrefix('item');
        await storage.putMany(files, signal);
      },
    };
    const folder = await folderOf(storage, t, { master: '2', b: '2' });
    const adding = addToFolder(removing, folder, 'item', { last: ['master'] });
    await assert.rejects(adding, PrefixMissingError);
    assert.deepEqual(await listKeys(storage, ''), []);
  });

  test('nothing is added to a missing prefix, or if a file named in `last` is missing', async (t) => {
    const storage = await openStorage(t);
    await assert.rejects(addFiles(storage, t, 'item', { a: '1' }, ['a']), PrefixMissingError);
    await putFiles(storage, t, 'item', { a: '1' });
    await assert.rejects(addFiles(storage, t, 'item', { b: '2' }, ['a']), UnsafeSourceError);
    assert.deepEqual(await listKeys(storage, ''), ['item/a', 'item/manifest.json']);
  });

  test(
    'while a prefix gets a new master, no reader sees one that refers to absent files',
    { skip },
    async (t) => {
      const storage = await openStorage(t);
      await putFiles(storage, t, 'item', { master: 'v0', 'v0/0.ts': 'x' });
      let adding = true;
      const read = async (): Promise<number> => {
        let reads = 0;
        for (; adding; reads += 1) {
          const named = await readText(storage, 'item/master');
          assert.equal(await readText(storage, `item/${named}/0.ts`), 'x');
        }
        return reads;
      };
      const reader = awaitedLater(read());
      for (let version = 1; version <= 20; version += 1) {
        const files = { master: `v${version}`, [`v${version}/0.ts`]: 'x' };
        await addFiles(storage, t, 'item', files, ['master']);
      }
      adding = false;
      assert.ok((await reader) > 0);
    },
  );
}
