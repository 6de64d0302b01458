import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { storageConformance } from './conformance.ts';
import { putBytes, readText } from './conformance-helpers.ts';
import { openDiskStorage } from './disk-storage.ts';
import { addToFolder, publishFolder } from './folders.ts';
import { KeyTakenError } from './storage-errors.ts';

async function temporaryRoot(t: TestContext): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), 'storage-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  return root;
}

storageConformance('disk', async (t) => openDiskStorage(await temporaryRoot(t)));

test('a link that somebody put among the objects is not followed', async (t) => {
  const root = await temporaryRoot(t);
  const storage = await openDiskStorage(root);
  await symlink('/etc/passwd', path.join(root, 'objects', 'link'));
  assert.equal(await storage.head('link'), null);
  assert.equal(await storage.read('link'), null);
  assert.deepEqual(await Array.fromAsync(storage.list('')), []);
});

test('a file neither replaces a prefix nor is below a file', async (t) => {
  const storage = await openDiskStorage(await temporaryRoot(t));
  await putBytes(storage, 'a/b', 'x');
  await assert.rejects(putBytes(storage, 'a', 'y'), KeyTakenError);
  await assert.rejects(putBytes(storage, 'a/b/c', 'y'), KeyTakenError);
  assert.equal(await readText(storage, 'a/b'), 'x');
});

test('removals leave no empty folders and no trash behind', async (t) => {
  const root = await temporaryRoot(t);
  const storage = await openDiskStorage(root);
  const put = async (key: string): Promise<void> => {
    await writeFile(path.join(root, 'work', 'file'), 'x');
    await storage.put(key, { path: path.join(root, 'work', 'file') });
  };
  await put('a/b/c/one');
  await put('a/two');
  await storage.remove('a/b/c/one');
  assert.deepEqual(await readdir(path.join(root, 'objects/a')), ['two']);
  await storage.removePrefix('a');
  assert.deepEqual(await readdir(path.join(root, 'objects')), []);
  assert.deepEqual(await readdir(path.join(root, 'trash')), []);
});

test('puts and removals of neighbours do not disturb each other', async (t) => {
  const root = await temporaryRoot(t);
  const storage = await openDiskStorage(root);
  const writer = async (name: string): Promise<void> => {
    for (let round = 0; round < 40; round += 1) {
      const local = path.join(root, 'work', name);
      await writeFile(local, name);
      await storage.put(`shared/deep/${name}`, { path: local });
      await storage.remove(`shared/deep/${name}`);
    }
  };
  await Promise.all(['a', 'b', 'c', 'd'].map(writer));
  assert.deepEqual(await readdir(path.join(root, 'objects')), []);
});

test('cleaning removes what a crash left, not what is in use or fresh', async (t) => {
  const root = await temporaryRoot(t);
  const storage = await openDiskStorage(root);
  const longAgo = new Date(Date.now() - 3_600_000);
  const inWork = (name: string): string => path.join(root, 'work', name);
  await mkdir(inWork('old'));
  await writeFile(inWork('old-file'), 'x');
  await mkdir(inWork('old-but-written-to'));
  await writeFile(path.join(inWork('old-but-written-to'), 'growing.ts'), 'x');
  await using held = await storage.scratch.createFolder('held');
  for (const name of ['old', 'old-file', 'old-but-written-to', path.basename(held.path)]) {
    await utimes(inWork(name), longAgo, longAgo);
  }
  await mkdir(path.join(root, 'trash', 'half-erased'));
  assert.equal(await storage.cleanUp(60_000), 3);
  assert.deepEqual((await readdir(path.join(root, 'work'))).toSorted(), [
    path.basename(held.path),
    'old-but-written-to',
  ]);
  assert.deepEqual(await readdir(path.join(root, 'trash')), []);
});

test('a file on another device is copied and published just the same', async (t) => {
  const otherDevice = '/dev/shm';
  const storage = await openDiskStorage(await temporaryRoot(t));
  const local = await mkdtemp(path.join(otherDevice, 'storage-')).catch(() => null);
  if (local === null) return t.skip(`${otherDevice} is not writable here`);
  t.after(() => rm(local, { recursive: true, force: true }));
  await writeFile(path.join(local, 'one'), '1');
  await storage.put('one', { path: path.join(local, 'one') });
  await mkdir(path.join(local, 'folder/inner'), { recursive: true });
  await writeFile(path.join(local, 'folder/inner/two'), '2');
  await publishFolder(storage, path.join(local, 'folder'), 'folder');
  await mkdir(path.join(local, 'more'));
  await writeFile(path.join(local, 'more/three'), '3');
  await addToFolder(storage, path.join(local, 'more'), 'folder', { last: ['three'] });
  for (const [key, text] of [
    ['one', '1'],
    ['folder/inner/two', '2'],
    ['folder/three', '3'],
  ] as const) {
    const read = await storage.read(key);
    assert.ok(read !== null);
    assert.equal((await buffer(read.stream)).toString(), text);
  }
  const left = await readdir(local, { recursive: true, withFileTypes: true });
  assert.ok(left.every((entry) => entry.isDirectory()));
});
