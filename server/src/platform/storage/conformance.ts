/** Tests that every storage must pass. `disk-storage.test.ts` runs them for the disk. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { additionTests, folderTests } from './conformance-folders.ts';
import {
  listKeys,
  putBytes,
  readText,
  workFolder,
  type OpenStorage,
} from './conformance-helpers.ts';
import { addToFolder, publishFolder } from './folders.ts';
import { joined } from './joined.ts';
import { InvalidKeyError, RangeNotSatisfiableError } from './storage-errors.ts';
import type { ByteRange, Piece, Storage } from './storage.ts';
import { tryStorage } from './try-storage.ts';

/**
 * @param options.showsPartialPuts for a server whose readers may see part of an object being
 * replaced
 */
export function storageConformance(
  name: string,
  openStorage: OpenStorage,
  { showsPartialPuts = false }: { showsPartialPuts?: boolean } = {},
): void {
  describe(`${name} storage`, () => {
    fileTests(openStorage);
    joinTests(openStorage);
    pieceTests(openStorage);
    rangeTests(openStorage);
    folderTests(openStorage);
    additionTests(openStorage, showsPartialPuts);
    keyTests(openStorage);
  });
}

function fileTests(openStorage: OpenStorage): void {
  test('a stored file has its bytes, size and times, and its work file is gone', async (t) => {
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

  test('a working storage passes its check and a trial, which leaves no objects', async (t) => {
    const storage = await openStorage(t);
    await storage.check();
    await tryStorage(storage);
    assert.deepEqual(await Array.fromAsync(storage.list('')), []);
  });

  test('absent objects and prefixes are null, and removing them does nothing', async (t) => {
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

  test('a replaced file has a new etag, and a reader of the old one keeps its bytes', async (t) => {
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

  test('a stream is stored like a file, and an interrupted one stores nothing', async (t) => {
    const storage = await openStorage(t);
    await storage.put('stream', Readable.from([Buffer.from('one '), Buffer.from('two')]));
    assert.equal(await readText(storage, 'stream'), 'one two');
    async function* broken(): AsyncGenerator<Buffer> {
      yield Buffer.from('three');
      throw new Error('broken off');
    }
    await assert.rejects(storage.put('stream', broken()), { message: 'broken off' });
    assert.equal(await readText(storage, 'stream'), 'one two');
    // Such a stream also has a path, which must not be mistaken for that of a file to move.
    const folder = await workFolder(storage, t);
    const local = path.join(folder.path, 'kept');
    await writeFile(local, 'kept');
    await storage.put('kept', createReadStream(local));
    assert.equal(await readText(storage, 'kept'), 'kept');
    assert.equal(await readFile(local, 'utf8'), 'kept');
  });

  test('a file larger than one part of an upload is stored unchanged', async (t) => {
    const storage = await openStorage(t);
    const bytes = randomBytes(18 * 2 ** 20);
    const local = path.join((await workFolder(storage, t)).path, 'large');
    await writeFile(local, bytes);
    await storage.put('large', { path: local });
    assert.equal((await storage.head('large'))?.sizeBytes, bytes.length);
    const read = await storage.read('large');
    assert.ok(read !== null);
    assert.ok(bytes.equals(await buffer(read.stream)));
  });

  test('a materialized file stays readable after its key is removed', async (t) => {
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
    const local = { path: path.join(folder, 'b') };
    await assert.rejects(storage.put('a/b', local, gone), refused);
    await assert.rejects(storage.put('a/b', Readable.from([Buffer.from('y')]), gone), refused);
    await assert.rejects(storage.putMany([{ ...local, key: 'a/b' }], gone), refused);
    await assert.rejects(publishFolder(storage, folder, 'c', gone), refused);
    await assert.rejects(addToFolder(storage, folder, 'a', { last: ['b'] }, gone), refused);
    await assert.rejects(storage.remove('a/b', gone), refused);
    await assert.rejects(storage.removePrefix('a', gone), refused);
    await assert.rejects(Array.fromAsync(storage.list('', gone)), refused);
    assert.equal(await readText(storage, 'a/b'), 'x');
    assert.equal(await storage.head('c/b'), null);
  });
}

function pieceTests(openStorage: OpenStorage): void {
  const texts = async (storage: Storage, pieces: readonly Piece[]) =>
    (await buffer(joined(storage, pieces))).toString();

  test('pieces hold flushed bytes, and another writer continues after them', async (t) => {
    const storage = await openStorage(t);
    const first = storage.openPieces('pieces', []);
    assert.deepEqual(await first.flush(false), []);
    await first.write(Buffer.from('one '));
    const one = await first.flush(false);
    await first.write(Buffer.from('two '));
    const two = await first.flush(false);
    await first.write(Buffer.from('lost'));
    assert.equal(await texts(storage, one), 'one ', 'what was answered stays');
    assert.equal(await texts(storage, two), 'one two ');
    const second = storage.openPieces('pieces', two);
    await second.write(Buffer.from('three'));
    const three = await second.flush(true);
    await first[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
    assert.equal(await texts(storage, three), 'one two three');
    await storage.join('joined', three);
    assert.equal(await readText(storage, 'joined'), 'one two three');
    await storage.removePrefix('pieces');
    assert.equal(await readText(storage, 'joined'), 'one two three');
    await assert.rejects(storage.join('again', three));
  });

  test('a piece that is a whole object can be joined, and the result outlives the piece', async (t) => {
    const storage = await openStorage(t);
    await using writer = storage.openPieces('pieces', []);
    await writer.write(Buffer.from('whole'));
    const pieces = await writer.flush(true);
    await storage.join('joined', pieces);
    await storage.removePrefix('pieces');
    assert.equal(await readText(storage, 'joined'), 'whole');
    assert.deepEqual(await listKeys(storage, ''), ['joined']);
  });

  test('a writer that stored nothing leaves nothing', async (t) => {
    const storage = await openStorage(t);
    const writer = storage.openPieces('pieces', []);
    await writer.write(Buffer.from('unsaid'));
    await writer[Symbol.asyncDispose]();
    assert.deepEqual(await listKeys(storage, ''), []);
    assert.throws(() => storage.openPieces('../x', []), InvalidKeyError);
  });
}

function joinTests(openStorage: OpenStorage): void {
  test('any process can join parts in the given order, and the parts are kept', async (t) => {
    const storage = await openStorage(t);
    await putBytes(storage, 'parts/0', 'one ');
    await putBytes(storage, 'parts/4', '');
    await putBytes(storage, 'parts/4-again', 'two');
    await storage.join('joined', ['parts/0', 'parts/4', 'parts/4-again']);
    assert.equal(await readText(storage, 'joined'), 'one two');
    assert.equal(await readText(storage, 'parts/0'), 'one ');
    await storage.join('joined', ['parts/4-again']);
    assert.equal(await readText(storage, 'joined'), 'two');
    await storage.join('joined', []);
    assert.equal(await readText(storage, 'joined'), '');
  });

  test('nothing is joined if a part is missing', async (t) => {
    const storage = await openStorage(t);
    await putBytes(storage, 'parts/0', 'one');
    await assert.rejects(storage.join('joined', ['parts/0', 'parts/3']), /parts\/3/);
    assert.equal(await storage.head('joined'), null);
    await assert.rejects(storage.join('../x', ['parts/0']), InvalidKeyError);
    const gone = AbortSignal.abort(new Error('gone'));
    await assert.rejects(storage.join('joined', ['parts/0'], {}, gone), { message: 'gone' });
    assert.equal(await storage.head('joined'), null);
  });
}

function rangeTests(openStorage: OpenStorage): void {
  test('ranges are clipped to the file and rejected beyond its end', async (t) => {
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

  test('an empty file is readable, but has no readable range', async (t) => {
    const storage = await openStorage(t);
    await putBytes(storage, 'empty', '');
    assert.equal(await readText(storage, 'empty'), '');
    await assert.rejects(storage.read('empty', { start: 0 }), RangeNotSatisfiableError);
    await assert.rejects(storage.read('empty', { lastBytes: 5 }), RangeNotSatisfiableError);
  });
}

function keyTests(openStorage: OpenStorage): void {
  test('keys that could escape the root, or mean something elsewhere, are rejected', async (t) => {
    const storage = await openStorage(t);
    const long = 'a'.repeat(201);
    const signing = { expiresInMs: 1_000, contentType: 'text/csv', contentDisposition: 'inline' };
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
      await assert.rejects(storage.put(key, { path: '/nowhere' }), InvalidKeyError, key);
      await assert.rejects(storage.putMany([{ path: '/nowhere', key }]), InvalidKeyError, key);
      await assert.rejects(storage.remove(key), InvalidKeyError, key);
      await assert.rejects(storage.removePrefix(key), InvalidKeyError, key);
      await assert.rejects(storage.join(key, []), InvalidKeyError, key);
      await assert.rejects(storage.signedUrl(key, signing), InvalidKeyError, key);
      await assert.rejects(storage.materialize(key, '/nowhere'), InvalidKeyError, key);
      if (key === '') continue;
      await assert.rejects(async () => Array.fromAsync(storage.list(key)), InvalidKeyError, key);
    }
  });
}
