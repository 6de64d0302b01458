/** Steps shared by the conformance tests: write bytes under a key, and read them back. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { addToFolder, publishFolder } from './folders.ts';
import type { Storage } from './storage.ts';

/** Opens an empty storage that is removed at the end of the test. */
export type OpenStorage = (context: TestContext) => Promise<Storage>;

export async function workFolder(storage: Storage, t: TestContext): Promise<{ path: string }> {
  const folder = await storage.scratch.createFolder('test');
  t.after(() => folder[Symbol.asyncDispose]());
  return folder;
}

export async function putBytes(storage: Storage, key: string, text: string): Promise<string> {
  const source = (async function* () {
    yield Buffer.from(text);
  })();
  await using received = await storage.scratch.receive(source, { maxBytes: 1_000 });
  await storage.put(key, received);
  return received.path;
}

export async function putFiles(
  storage: Storage,
  t: TestContext,
  prefix: string,
  files: Record<string, string>,
): Promise<void> {
  await publishFolder(storage, await folderOf(storage, t, files), prefix);
}

export async function addFiles(
  storage: Storage,
  t: TestContext,
  prefix: string,
  files: Record<string, string>,
  last: readonly string[],
): Promise<void> {
  await addToFolder(storage, await folderOf(storage, t, files), prefix, { last });
}

/** A local folder with these files. */
export async function folderOf(
  storage: Storage,
  t: TestContext,
  files: Record<string, string>,
): Promise<string> {
  const { path: folder } = await workFolder(storage, t);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
  return folder;
}

export async function readText(storage: Storage, key: string): Promise<string | null> {
  const read = await storage.read(key);
  return read === null ? null : (await buffer(read.stream)).toString();
}

export async function listKeys(storage: Storage, prefix: string): Promise<string[]> {
  const files = await Array.fromAsync(storage.list(prefix));
  return files.map((file) => file.key).toSorted();
}

/** The methods of a storage, some of which a test wraps to intervene at a chosen moment. */
export function facadeOf(storage: Storage): Storage {
  return {
    scratch: storage.scratch,
    maxClockSkewMs: storage.maxClockSkewMs,
    check: (...given) => storage.check(...given),
    head: (...given) => storage.head(...given),
    read: (...given) => storage.read(...given),
    list: (...given) => storage.list(...given),
    put: (...given) => storage.put(...given),
    putMany: (...given) => storage.putMany(...given),
    join: (...given) => storage.join(...given),
    openPieces: (...given) => storage.openPieces(...given),
    remove: (...given) => storage.remove(...given),
    removePrefix: (...given) => storage.removePrefix(...given),
    materialize: (...given) => storage.materialize(...given),
    signedUrl: (...given) => storage.signedUrl(...given),
    cleanUp: (...given) => storage.cleanUp(...given),
  };
}

/**
 * A storage whose `putMany` fails after storing `count` files, as if its process had been killed.
 */
export function failingAfter(storage: Storage, count: number): Storage {
  return {
    ...facadeOf(storage),
    putMany: async (files, signal) => {
      await storage.putMany(files.slice(0, count), signal);
      throw new Error('killed');
    },
  };
}
