/**
 * Making bytes and names survive power loss. A file is durable when its own data was synced and
 * then each folder between it and the root, because a name lives in the folder that holds it.
 */
import { lstat, mkdir, open, opendir } from 'node:fs/promises';
import path from 'node:path';
import { segmentProblem } from './keys.ts';
import { absentAsNull, systemCode, UnsafeSourceError } from './storage-errors.ts';

/** Bounds memory and time for one folder: eleven hours of 2-second segments in five renditions. */
const maxFolderEntries = 100_000;

/**
 * Each sync holds one of the process's few file-system threads until the disk answers, so a
 * large folder must leave some to everybody else.
 */
const parallelSyncs = 2;

export type FolderTree = {
  /** Relative paths with `/`, in no promised order. */
  readonly files: readonly string[];
  /** Relative paths, the root as `''`, every folder after the one that holds it. */
  readonly folders: readonly string[];
};

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
 * Creates `folder` and what is missing above it; `syncUp` makes it durable afterwards. By hand,
 * because the recursive `mkdir` reports ENOTDIR when a neighbour prunes a parent at that moment,
 * which is what it also says of a path that runs through a file.
 */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return;
    if (systemCode(error) !== 'ENOENT' || folder === path.dirname(folder)) throw error;
    await makeFolder(path.dirname(folder));
    await mkdir(folder, { mode: 0o700 }).catch(ignoreExisting);
  }
}

/** Creates one folder in an existing one; it may be there already. */
export async function makeFolderInside(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch(ignoreExisting);
}

function ignoreExisting(error: unknown): void {
  if (systemCode(error) !== 'EEXIST') throw error;
}

/**
 * Syncs `folder` and every folder above it up to and with `root`. All of them, not only those
 * that this call created: another writer may have made one a moment ago and not synced it yet.
 */
export async function syncUp(root: string, folder: string): Promise<void> {
  for (let current = folder; ; current = path.dirname(current)) {
    // A folder that is gone was emptied and pruned meanwhile: no name is left to keep in it.
    await sync(current).catch(absentAsNull);
    if (current === root || current === path.dirname(current)) return;
  }
}

/** Lists a folder for publishing. Throws `UnsafeSourceError` for anything that must not be. */
export async function readTree(root: string, signal?: AbortSignal): Promise<FolderTree> {
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
        throw new UnsafeSourceError(`over ${maxFolderEntries} entries`);
      }
    }
  }
  if (files.length === 0) throw new UnsafeSourceError('it is empty');
  return { files, folders };
}

/** Syncs the given paths below `root`, a few at a time. */
export async function syncAll(
  root: string,
  relativePaths: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  // The workers share one iterator, so each path is taken once.
  const paths = relativePaths.values();
  const worker = async (): Promise<void> => {
    for (const relative of paths) {
      signal?.throwIfAborted();
      await sync(path.join(root, relative));
    }
  };
  await Promise.all(Array.from({ length: parallelSyncs }, worker));
}
