/**
 * The three ways of publishing on a disk, each in the order that survives power loss:
 * sync the files, rename, sync the folders that hold the new names.
 */
import { constants, copyFile, cp, lstat, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import {
  makeFolder,
  makeFolderInside,
  readTree,
  sync,
  syncAll,
  syncUp,
  type FolderTree,
} from './durable.ts';
import {
  absentAsNull,
  asStorageError,
  KeyTakenError,
  PrefixMissingError,
  systemCode,
  UnsafeSourceError,
} from './storage-errors.ts';
import type { WorkArea } from './work-area.ts';

/** The folder of published files, and the work area on its device for sources from another one. */
export type Place = { readonly objects: string; readonly work: WorkArea };

/** Another writer may prune an empty parent between its creation and the rename into it. */
const maxRenameTries = 5;

/** See `Storage.putFile`; `target` is where `key` lies below `place.objects`. */
export async function publishFile(
  place: Place,
  localPath: string,
  { key, target }: { key: string; target: string },
  signal?: AbortSignal,
): Promise<void> {
  try {
    if (!(await lstat(localPath)).isFile()) throw new UnsafeSourceError('it is not a file');
    await sync(localPath);
    signal?.throwIfAborted();
    await acrossDevices(place, localPath, 'file', (source) => renameDurably(place, source, target));
  } catch (error) {
    throw takenOrFull(error, key);
  }
}

/** See `Storage.putFolder`. */
export async function publishFolder(
  place: Place,
  localFolder: string,
  { key, target }: { key: string; target: string },
  signal?: AbortSignal,
): Promise<void> {
  try {
    await syncTree(localFolder, signal);
    signal?.throwIfAborted();
    await acrossDevices(place, localFolder, 'folder', (source) =>
      renameDurably(place, source, target),
    );
  } catch (error) {
    throw takenOrFull(error, key);
  }
}

/** See `Storage.putIntoFolder`. */
export async function publishIntoFolder(
  place: Place,
  localFolder: string,
  { key, target, last }: { key: string; target: string; last: readonly string[] },
  signal?: AbortSignal,
): Promise<void> {
  const stats = await lstat(target).catch(absentAsNull);
  if (stats?.isDirectory() !== true) throw new PrefixMissingError(key);
  const tree = await readTree(localFolder, signal);
  const missing = last.find((name) => !tree.files.includes(name));
  if (missing !== undefined) throw new UnsafeSourceError(`it lacks ${missing}`);
  await syncAll(localFolder, tree.files, signal);
  try {
    await addToFolder(place, { localFolder, tree, target, last }, signal);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') throw new PrefixMissingError(key, error);
    throw takenOrFull(error, key);
  }
}

/** Renames, creating the target's folders, and makes the new name durable. */
async function renameDurably({ objects }: Place, source: string, target: string): Promise<void> {
  const folder = path.dirname(target);
  for (let tries = 1; ; tries += 1) {
    try {
      await makeFolder(folder);
      await rename(source, target);
      break;
    } catch (error) {
      if (systemCode(error) !== 'ENOENT' || tries === maxRenameTries) throw error;
    }
  }
  await syncUp(objects, folder);
}

async function syncTree(folder: string, signal?: AbortSignal): Promise<void> {
  const tree = await readTree(folder, signal);
  await syncAll(folder, tree.files, signal);
  await syncAll(folder, tree.folders.toReversed(), signal);
}

/** Does `move`; when the source lies on another device, with a synced copy on this one. */
async function acrossDevices(
  place: Place,
  source: string,
  kind: 'file' | 'folder',
  move: (source: string) => Promise<void>,
): Promise<void> {
  try {
    await move(source);
    return;
  } catch (error) {
    if (systemCode(error) !== 'EXDEV') throw error;
  }
  await using work = await place.work.createFolder('copy');
  const copy = path.join(work.path, 'copy');
  if (kind === 'file') {
    await copyFile(source, copy, constants.COPYFILE_EXCL);
    await sync(copy);
  } else {
    await cp(source, copy, { recursive: true, errorOnExist: true, verbatimSymlinks: true });
    await syncTree(copy);
  }
  await move(copy);
  await rm(source, { recursive: true, force: true });
}

type Addition = {
  readonly localFolder: string;
  readonly tree: FolderTree;
  readonly target: string;
  readonly last: readonly string[];
};

async function addToFolder(
  place: Place,
  { localFolder, tree, target, last }: Addition,
  signal?: AbortSignal,
): Promise<void> {
  const moveIn = (relative: string): Promise<void> =>
    acrossDevices(place, path.join(localFolder, relative), 'file', (source) =>
      rename(source, path.join(target, relative)),
    );
  // Not recursive: a prefix that is removed meanwhile must not come back as a shell of itself.
  for (const folder of tree.folders.slice(1)) await makeFolderInside(path.join(target, folder));
  for (const file of tree.files) {
    signal?.throwIfAborted();
    if (!last.includes(file)) await moveIn(file);
  }
  await syncAll(target, tree.folders.toReversed());
  for (const file of last) {
    await moveIn(file);
    await sync(path.dirname(path.join(target, file)));
  }
}

/** A rename onto a file, a used folder, or a path through a file says that the key is taken. */
function takenOrFull(error: unknown, key: string): unknown {
  const taken = ['EEXIST', 'ENOTEMPTY', 'EISDIR', 'ENOTDIR'].includes(systemCode(error));
  return taken ? new KeyTakenError(key, error) : asStorageError(error);
}
