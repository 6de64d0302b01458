/**
 * Puts files on a disk in an order that survives power loss: sync the files, rename them to their
 * keys, sync the folders that contain the new names.
 */
import { constants, copyFile, lstat, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { forEachOf, makeFolder, sync } from './durable.ts';
import type { Scratch } from './scratch.ts';
import {
  absentAsNull,
  asStorageError,
  KeyTakenError,
  systemCode,
  UnsafeSourceError,
} from './storage-errors.ts';
import type { LocalFile } from './storage.ts';

/**
 * The folder of the objects, and a scratch area on the same device for sources on other devices.
 */
export type DiskPlace = { readonly objects: string; readonly scratch: Scratch };

/** A local file, its key, and the path of the key below `DiskPlace.objects`. */
export type PlacedFile = LocalFile & { readonly key: string; readonly target: string };

/** Another writer may remove an empty parent between its creation and its use. */
const maxTries = 6;

/** See `Storage.putMany`. */
export async function putFiles(
  place: DiskPlace,
  files: readonly PlacedFile[],
  signal?: AbortSignal,
): Promise<void> {
  try {
    await forEachOf(files, ({ path: localPath }) => syncFile(localPath), signal);
    signal?.throwIfAborted();
    await forEachOf(files, (file) => moveIn(place, file), signal);
    await syncFolders(place, files);
  } catch (error) {
    throw asStorageError(error);
  }
}

async function syncFile(localPath: string): Promise<void> {
  if (!(await lstat(localPath)).isFile()) throw new UnsafeSourceError('it is not a file');
  await sync(localPath);
}

/** Renames a file to its key, or, if it is on another device, a synced copy of it. */
async function moveIn(
  { scratch }: DiskPlace,
  { path: source, key, target }: PlacedFile,
): Promise<void> {
  try {
    await renameInto(source, target);
  } catch (error) {
    if (systemCode(error) !== 'EXDEV') throw asTaken(error, key);
    await using folder = await scratch.createFolder('copy');
    const copy = path.join(folder.path, 'copy');
    await copyFile(source, copy, constants.COPYFILE_EXCL);
    await sync(copy);
    await renameInto(copy, target).catch((cause: unknown) => {
      throw asTaken(cause, key);
    });
    await rm(source, { force: true });
  }
}

async function renameInto(source: string, target: string): Promise<void> {
  await inFolderOf(target, () => rename(source, target));
}

/** Runs work that needs the folder of `target`, which usually exists already. */
export async function inFolderOf<T>(target: string, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      if (tries > 1) await makeFolder(path.dirname(target));
      return await work();
    } catch (error) {
      if (systemCode(error) !== 'ENOENT' || tries === maxTries) throw error;
    }
  }
}

/**
 * Syncs each folder between the objects' root and the files, deepest first. Includes folders that
 * this call did not create, because another writer may have just created one and not synced it yet.
 */
export async function syncFolders(
  { objects }: Pick<DiskPlace, 'objects'>,
  files: readonly Pick<PlacedFile, 'target'>[],
): Promise<void> {
  const folders = new Set<string>();
  for (const { target } of files) {
    let folder = path.dirname(target);
    for (; folder !== objects && !folders.has(folder); folder = path.dirname(folder)) {
      folders.add(folder);
    }
  }
  const deepestFirst = [...folders].toSorted((a, b) => b.length - a.length);
  for (const folder of [...deepestFirst, objects]) {
    // A missing folder has been emptied and removed in the meantime, so there is no name in it to
    // preserve.
    await sync(folder).catch(absentAsNull);
  }
}

/** A rename onto a folder, or a path through a file, means that the key is taken. */
function asTaken(error: unknown, key: string): unknown {
  const taken = ['EEXIST', 'ENOTEMPTY', 'EISDIR', 'ENOTDIR'].includes(systemCode(error));
  return taken ? new KeyTakenError(key, error) : error;
}
