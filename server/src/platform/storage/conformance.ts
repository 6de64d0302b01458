/**
 * What every storage must do, as tests. `disk-storage.test.ts` runs it for the disk; another
 * implementation passes the same suite or isn't one.
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { additionTests, folderTests } from './conformance-folders.ts';
import { putBytes, readText, workFolder, type OpenStorage } from './conformance-helpers.ts';
import { InvalidKeyError, KeyTakenError, RangeNotSatisfiableError } from './storage-errors.ts';
import type { ByteRange } from './storage.ts';

export function storageConformance(name: string, openStorage: OpenStorage): void {
  describe(`${name} storage`, () => {
    fileTests(openStorage);
    rangeTests(openStorage);
    folderTests(openStorage);
    additionTests(openStorage);
    keyTests(openStorage);
  });
}

function fileTests(openStorage: OpenStorage): void {
  test('a file comes back with its bytes, size and times, and its work file is gone', async (t) => {
    const storage = await openStorage(t);
    const before = Date.now();
    const received = await putBytes(storage, 'a/b/clip.mp4', 'hello');
    const head = await storage.head('a/b/clip.mp4');
    assert.equal(head?.key, 'a/b/clip.mp4');
    assert.equal(head.sizeBytes, 5);
    assert.ok(Math.abs(head.modifiedAt.getTime() - before) < 5_000);
    assert.match(head.etag, /^"[^"]+"$/);
    assert.equal(await readText(storage, 'a/b/clip.mp4'), 'hello');
    await assert.rejects(readFile(received), { code: 'ENOENT' });
  });

  test('what is absent, or a prefix, is null; removing it does nothing', async (t) => {
    const storage = await openStorage(t);
    await putBytes(storage, 'a/file', 'x');
    for (const key of ['nothing', 'a', 'a/nothing', 'a/file/below']) {
      assert.equal(await storage.head(key), null, key);
      assert.equal(await storage.read(key), null, key);
      assert.equal(await storage.materialize(key, (await workFolder(storage, t)).path), null);
      await storage.remove(key);
    }
    await storage.removePrefix('nothing');
    await storage.removePrefix('a/file');
    assert.equal(await readText(storage, 'a/file'), 'x');
  });

  test('a replaced file has another etag, and a reader of the old one keeps its bytes', async (t) => {
    const storage = await openStorage(t);
    await putBytes(storage, 'key', 'old');
    const old = await storage.read('key');
    await putBytes(storage, 'key', 'new');
    const replaced = await storage.head('key');
    assert.ok(old !== null && replaced !== null);
    assert.notEqual(replaced.etag, old.etag);
    assert.equal((await buffer(old.stream)).toString(), 'old');
    assert.equal(await readText(storage, 'key'), 'new');
    await storage.remove('key');
    assert.equal(await storage.head('key'), null);
  });

  test('a file neither replaces a prefix nor lies below a file', async (t) => {
    const storage = await openStorage(t);
    await putBytes(storage, 'a/b', 'x');
    await assert.rejects(putBytes(storage, 'a', 'y'), KeyTakenError);
    await assert.rejects(putBytes(storage, 'a/b/c', 'y'), KeyTakenError);
    assert.equal(await readText(storage, 'a/b'), 'x');
  });

  test('a materialized file stays readable after its key was removed', async (t) => {
    const storage = await openStorage(t);
    const { path: folder } = await workFolder(storage, t);
    await putBytes(storage, 'x/source.mp4', 'bytes');
    const first = await storage.materialize('x/source.mp4', folder);
    const second = await storage.materialize('x/source.mp4', folder);
    assert.ok(first !== null && second !== null);
    assert.notEqual(first, second);
    assert.equal(path.extname(first), '.mp4');
    await storage.remove('x/source.mp4');
    assert.equal(await readFile(first, 'utf8'), 'bytes');
  });

  test('an aborted signal stops every method before it changes anything', async (t) => {
    const storage = await openStorage(t);
    await putBytes(storage, 'a/b', 'x');
    const { path: folder } = await workFolder(storage, t);
    await writeFile(path.join(folder, 'b'), 'y');
    const gone = AbortSignal.abort(new Error('gone'));
    const refused = { message: 'gone' };
    await assert.rejects(storage.head('a/b', gone), refused);
    await assert.rejects(storage.read('a/b', undefined, gone), refused);
    await assert.rejects(storage.putFile(path.join(folder, 'b'), 'a/b', gone), refused);
    await assert.rejects(storage.putFolder(folder, 'c', gone), refused);
    await assert.rejects(storage.putIntoFolder(folder, 'a', { last: ['b'] }, gone), refused);
    await assert.rejects(storage.remove('a/b', gone), refused);
    await assert.rejects(storage.removePrefix('a', gone), refused);
    await assert.rejects(Array.fromAsync(storage.list('', gone)), refused);
    assert.equal(await readText(storage, 'a/b'), 'x');
    assert.equal(await storage.head('c/b'), null);
  });
}

function rangeTests(openStorage: OpenStorage): void {
  test('ranges are clipped to the file and refused behind its end', async (t) => {
    const storage = await openStorage(t);
    await putBytes(storage, 'ten', '0123456789');
    const cases: [ByteRange, string, number][] = [
      [{ start: 0 }, '0123456789', 0],
      [{ start: 3, end: 5 }, '345', 3],
      [{ start: 9, end: 9 }, '9', 9],
      [{ start: 8, end: 1e12 }, '89', 8],
      [{ lastBytes: 4 }, '6789', 6],
      [{ lastBytes: 400 }, '0123456789', 0],
    ];
    for (const [range, expected, offsetBytes] of cases) {
      const part = await storage.read('ten', range);
      assert.ok(part !== null);
      assert.equal((await buffer(part.stream)).toString(), expected);
      assert.equal(part.offsetBytes, offsetBytes);
      assert.equal(part.lengthBytes, expected.length);
      assert.equal(part.sizeBytes, 10);
    }
    const refused: ByteRange[] = [
      { start: 10 },
      { start: 5, end: 4 },
      { start: -1 },
      { start: Number.NaN },
      { lastBytes: 0 },
    ];
    for (const range of refused) {
      await assert.rejects(storage.read('ten', range), (error) => {
        assert.ok(error instanceof RangeNotSatisfiableError);
        return error.sizeBytes === 10;
      });
    }
  });

  test('an empty file is readable, and no range of it is', async (t) => {
    const storage = await openStorage(t);
    await putBytes(storage, 'empty', '');
    assert.equal(await readText(storage, 'empty'), '');
    await assert.rejects(storage.read('empty', { start: 0 }), RangeNotSatisfiableError);
    await assert.rejects(storage.read('empty', { lastBytes: 5 }), RangeNotSatisfiableError);
  });
}

function keyTests(openStorage: OpenStorage): void {
  test('keys that could leave the root, or mean something elsewhere, are refused', async (t) => {
    const storage = await openStorage(t);
    const long = 'a'.repeat(201);
    const keys = ['', '/', '/etc', 'a/', 'a//b', '.', '..', '../x', 'a/../b', 'a/./b', '.hidden'];
    keys.push(
      'a\\b',
      'a\0',
      'a b',
      'ä',
      '%2e%2e',
      'a..b',
      'C:',
      'a\n',
      long,
      'a/'.repeat(16) + 'a',
    );
    keys.push(Array.from({ length: 6 }, () => 'a'.repeat(100)).join('/'));
    for (const key of keys) {
      await assert.rejects(storage.head(key), InvalidKeyError, key);
      await assert.rejects(storage.read(key), InvalidKeyError, key);
      await assert.rejects(storage.putFile('/nowhere', key), InvalidKeyError, key);
      await assert.rejects(storage.putFolder('/nowhere', key), InvalidKeyError, key);
      await assert.rejects(storage.putIntoFolder('/nowhere', key, { last: [] }), InvalidKeyError);
      await assert.rejects(storage.remove(key), InvalidKeyError, key);
      await assert.rejects(storage.removePrefix(key), InvalidKeyError, key);
      await assert.rejects(storage.materialize(key, '/nowhere'), InvalidKeyError, key);
      if (key === '') continue;
      await assert.rejects(async () => Array.fromAsync(storage.list(key)), InvalidKeyError, key);
    }
  });
}
