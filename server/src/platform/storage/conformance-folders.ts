/** The part of the conformance suite about publishing folders and adding to them. */
import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import {
  addFiles,
  listKeys,
  putBytes,
  putFiles,
  readText,
  workFolder,
  type OpenStorage,
} from './conformance-helpers.ts';
import { KeyTakenError, PrefixMissingError, UnsafeSourceError } from './storage-errors.ts';

export function folderTests(openStorage: OpenStorage): void {
  test('a folder is published whole, listed, and removed whole', async (t) => {
    const storage = await openStorage(t);
    const files = { 'master.m3u8': 'm', 'v0/0.ts': 'zero', 'v0/1.ts': 'one' };
    await putFiles(storage, t, 'org/item/attempt-1', files);
    await putBytes(storage, 'org/other', 'o');
    assert.equal(await readText(storage, 'org/item/attempt-1/v0/1.ts'), 'one');
    assert.deepEqual(await listKeys(storage, 'org/item'), [
      'org/item/attempt-1/master.m3u8',
      'org/item/attempt-1/v0/0.ts',
      'org/item/attempt-1/v0/1.ts',
    ]);
    assert.equal((await listKeys(storage, '')).length, 4);
    assert.deepEqual(await listKeys(storage, 'org/it'), []);
    await storage.removePrefix('org/item');
    await storage.removePrefix('org/item');
    assert.deepEqual(await listKeys(storage, ''), ['org/other']);
  });

  test('a prefix that is in use is refused and stays as it was', async (t) => {
    const storage = await openStorage(t);
    await putFiles(storage, t, 'item', { a: '1' });
    await assert.rejects(putFiles(storage, t, 'item', { a: '2', b: '2' }), KeyTakenError);
    await assert.rejects(putFiles(storage, t, 'item/a', { b: '2' }), KeyTakenError);
    assert.equal(await readText(storage, 'item/a'), '1');
    assert.deepEqual(await listKeys(storage, ''), ['item/a']);
    await storage.removePrefix('item');
    await putFiles(storage, t, 'item', { a: '3' });
    assert.equal(await readText(storage, 'item/a'), '3');
  });

  test('one of two writers of the same prefix wins whole', async (t) => {
    const storage = await openStorage(t);
    const versions = ['x', 'y', 'z'].map((text) => ({ a: text, b: text }));
    const results = await Promise.allSettled(
      versions.map((files) => putFiles(storage, t, 'race', files)),
    );
    assert.equal(results.filter((result) => result.status === 'fulfilled').length, 1);
    assert.equal(await readText(storage, 'race/a'), await readText(storage, 'race/b'));
  });

  test('links, odd names and empty folders are never published', async (t) => {
    const storage = await openStorage(t);
    const publish = async (prepare: (folder: string) => Promise<void>): Promise<void> => {
      const { path: folder } = await workFolder(storage, t);
      await prepare(folder);
      await storage.putFolder(folder, 'bad');
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
    await assert.rejects(storage.putFile(path.join(folder, 'link'), 'bad'), UnsafeSourceError);
    assert.deepEqual(await listKeys(storage, ''), []);
  });
}

export function additionTests(openStorage: OpenStorage): void {
  test('further files join a prefix, and those named last replace the old ones', async (t) => {
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

  test('a repeated addition completes the first, as after a crash', async (t) => {
    const storage = await openStorage(t);
    await putFiles(storage, t, 'item', { master: '1' });
    for (const master of ['2', '3']) {
      await addFiles(storage, t, 'item', { master, 'v1/0.ts': master }, ['master']);
    }
    assert.equal(await readText(storage, 'item/master'), '3');
    assert.equal(await readText(storage, 'item/v1/0.ts'), '3');
  });

  test('nothing is added to a prefix that is not there, or without its last file', async (t) => {
    const storage = await openStorage(t);
    await assert.rejects(addFiles(storage, t, 'item', { a: '1' }, ['a']), PrefixMissingError);
    await putFiles(storage, t, 'item', { a: '1' });
    await assert.rejects(addFiles(storage, t, 'item', { b: '2' }, ['a']), UnsafeSourceError);
    assert.deepEqual(await listKeys(storage, ''), ['item/a']);
  });

  test('while a prefix gets a new master, no reader sees one that names absent files', async (t) => {
    const storage = await openStorage(t);
    await putFiles(storage, t, 'item', { master: 'v0', 'v0/0.ts': 'x' });
    let adding = true;
    const reader = (async (): Promise<number> => {
      let reads = 0;
      for (; adding; reads += 1) {
        const named = await readText(storage, 'item/master');
        assert.equal(await readText(storage, `item/${named}/0.ts`), 'x');
      }
      return reads;
    })();
    for (let version = 1; version <= 20; version += 1) {
      const files = { master: `v${version}`, [`v${version}/0.ts`]: 'x' };
      await addFiles(storage, t, 'item', files, ['master']);
    }
    adding = false;
    assert.ok((await reader) > 0);
  });
}
