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
import type { WorkFolder } from './work-area.ts';

export type Publisher = {
  putFile(localPath: string, key: string, signal?: AbortSignal): Promise<void>;
  putFolder(localFolder: string, prefix: string, signal?: AbortSignal): Promise<void>;
  putIntoFolder(
    localFolder: string,
    prefix: string,
    options: { readonly last: readonly string[] },
    signal?: AbortSignal,
  ): Promise<void>;
};

/** Another writer may prune an empty parent between its creation and the rename into it. */
const maxRenameTries = 5;

/**
 * `root` is the folder of published files and `locate` maps a checked key into it;
 * `createFolder` gives work folders on the same device, for sources that lie on another one.
 */
export function createPublisher(
  root: string,
  locate: (key: string) => string,
  createFolder: (name: string) => Promise<WorkFolder>,
): Publisher {
  /** Renames, creating the target's folders, and makes the new name durable. */
  const renameDurably = async (source: string, target: string): Promise<void> => {
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
    await syncUp(root, folder);
  };

  return {
    async putFile(localPath, key, signal) {
      const target = locate(key);
      try {
        if (!(await lstat(localPath)).isFile()) throw new UnsafeSourceError('it is no file');
        await sync(localPath);
        signal?.throwIfAborted();
        await acrossDevices(localPath, createFolder, 'file', (source) =>
          renameDurably(source, target),
        );
      } catch (error) {
        throw takenOrFull(error, key);
      }
    },

    async putFolder(localFolder, prefix, signal) {
      const target = locate(prefix);
      try {
        await syncTree(localFolder, signal);
        await acrossDevices(localFolder, createFolder, 'folder', (source) =>
          renameDurably(source, target),
        );
      } catch (error) {
        throw takenOrFull(error, prefix);
      }
    },

    async putIntoFolder(localFolder, prefix, { last }, signal) {
      const target = locate(prefix);
      const stats = await lstat(target).catch(absentAsNull);
      if (stats?.isDirectory() !== true) throw new PrefixMissingError(prefix);
      const tree = await readTree(localFolder, signal);
      const missing = last.find((name) => !tree.files.includes(name));
      if (missing !== undefined) throw new UnsafeSourceError(`it lacks ${missing}`);
      await syncAll(localFolder, tree.files, signal);
      try {
        await addToFolder({ localFolder, tree, target, last }, createFolder, signal);
      } catch (error) {
        if (systemCode(error) === 'ENOENT') throw new PrefixMissingError(prefix, error);
        throw takenOrFull(error, prefix);
      }
    },
  };
}

async function syncTree(folder: string, signal?: AbortSignal): Promise<void> {
  const tree = await readTree(folder, signal);
  await syncAll(folder, tree.files, signal);
  await syncAll(folder, tree.folders.toReversed(), signal);
}

/** Does `move`; when the source lies on another device, with a synced copy on this one. */
async function acrossDevices(
  source: string,
  createFolder: (name: string) => Promise<WorkFolder>,
  kind: 'file' | 'folder',
  move: (source: string) => Promise<void>,
): Promise<void> {
  try {
    await move(source);
    return;
  } catch (error) {
    if (systemCode(error) !== 'EXDEV') throw error;
  }
  await using work = await createFolder('copy');
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
  { localFolder, tree, target, last }: Addition,
  createFolder: (name: string) => Promise<WorkFolder>,
  signal?: AbortSignal,
): Promise<void> {
  const moveIn = (relative: string): Promise<void> =>
    acrossDevices(path.join(localFolder, relative), createFolder, 'file', (source) =>
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
