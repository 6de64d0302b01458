/**
 * Makes bytes and names survive power loss. A file is durable once its own data and then each
 * folder between it and the root have been synced, because a name is stored in its parent folder.
 */
import { lstat, mkdir, open, opendir } from 'node:fs/promises';
import path from 'node:path';
import { segmentProblem } from './keys.ts';
import { systemCode, UnsafeSourceError } from './storage-errors.ts';

/** Limits memory and time for one folder: eleven hours of 2-second segments in five renditions. */
const maxFolderEntries = 100_000;

/**
 * Each sync occupies one of the process's few file-system threads until the disk responds, so a
 * large folder must leave some for other work.
 */
const maxParallel = 2;

/** Waits until the data of a file, or the names in a folder, are on the device. */
export async function sync(fileOrFolder: string): Promise<void> {
  const handle = await open(fileOrFolder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Creates `folder` and its missing parents, without syncing them. Does not use the recursive
 * `mkdir`, which reports ENOTDIR both if another process removes a parent at that time and if a
 * file is in the way.
 */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return;
    if (systemCode(error) !== 'ENOENT' || folder === path.dirname(folder)) throw error;
    await makeFolder(path.dirname(folder));
    await mkdir(folder, { mode: 0o700 }).catch((again: unknown) => {
      if (systemCode(again) !== 'EEXIST') throw again;
    });
  }
}

/**
 * The files of a folder to publish, as relative paths with `/`, in no particular order.
 *
 * @throws UnsafeSourceError for anything that must not be published
 */
export async function listTree(root: string, signal?: AbortSignal): Promise<string[]> {
  if (!(await lstat(root)).isDirectory()) throw new UnsafeSourceError('it is not a folder');
  const files: string[] = [];
  const folders: string[] = [''];
  for (let index = 0; index < folders.length; index += 1) {
    const folder = folders[index] ?? '';
    for await (const entry of await opendir(path.join(root, folder))) {
      signal?.throwIfAborted();
      const problem = segmentProblem(entry.name);
      if (problem !== null) throw new UnsafeSourceError(`a name is ${problem}`);
      const relative = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) folders.push(relative);
      else if (entry.isFile()) files.push(relative);
      else throw new UnsafeSourceError(`neither a file nor a folder: ${relative}`);
      if (files.length + folders.length > maxFolderEntries) {
        throw new UnsafeSourceError(`more than ${maxFolderEntries} entries`);
      }
    }
  }
  if (files.length === 0) throw new UnsafeSourceError('it is empty');
  return files;
}

/**
 * Runs `work` for each item, at most `parallel` at a time. Starts no more work after a failure or
 * an abort.
 */
export async function forEachOf<T>(
  items: readonly T[] | AsyncGenerator<T>,
  work: (item: T) => Promise<void>,
  signal?: AbortSignal,
  parallel = maxParallel,
): Promise<void> {
  // The workers share one iterator, so each item is taken once.
  const left = Array.isArray(items) ? (items as readonly T[]).values() : items;
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    for await (const item of left) {
      signal?.throwIfAborted();
      if (hasFailed) return;
      await work(item).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: parallel }, worker));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
