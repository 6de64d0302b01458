/**
 * Storage in a local folder:
 *   <root>/objects  the objects, by key
 *   <root>/work     the scratch area
 *   <root>/trash    removed folders that are being erased
 * The three must be on one device. Several processes may share the root.
 */
import { randomUUID } from 'node:crypto';
import {
  constants,
  copyFile,
  link,
  lstat,
  open,
  opendir,
  rename,
  rm,
  rmdir,
  unlink,
} from 'node:fs/promises';
import path from 'node:path';
import { DiskPieces } from './disk-pieces.ts';
import { putFiles, type DiskPlace } from './disk-put.ts';
import { describe, readFrom } from './disk-read.ts';
import { makeFolder, sync } from './durable.ts';
import { joined } from './joined.ts';
import { keySegments } from './keys.ts';
import { Scratch } from './scratch.ts';
import { absentAsNull, asStorageError, isAbsent, systemCode } from './storage-errors.ts';
import type {
  ByteRange,
  JoinOptions,
  LocalFile,
  Piece,
  PieceWriter,
  Storage,
  StoredFile,
  StoredRead,
} from './storage.ts';

/** Opens the storage under `folder`, creating missing parts. */
export async function openDiskStorage(folder: string): Promise<Storage> {
  const root = path.resolve(folder);
  const objects = path.join(root, 'objects');
  const trash = path.join(root, 'trash');
  const scratch = path.join(root, 'work');
  for (const part of [objects, trash, scratch]) await makeFolder(part);
  await sync(root);
  return new DiskStorage(objects, trash, new Scratch(scratch));
}

class DiskStorage implements Storage {
  readonly scratch: Scratch;
  readonly maxClockSkewMs = 0;
  readonly #objects: string;
  readonly #trash: string;

  constructor(objects: string, trash: string, scratch: Scratch) {
    this.#objects = objects;
    this.#trash = trash;
    this.scratch = scratch;
  }

  async check(): Promise<void> {
    await this.scratch.freeBytes();
  }

  async head(key: string, signal?: AbortSignal): Promise<StoredFile | null> {
    const location = this.#locate(key);
    signal?.throwIfAborted();
    const stats = await lstat(location, { bigint: true }).catch(absentAsNull);
    return stats?.isFile() === true ? describe(key, stats) : null;
  }

  async read(key: string, range?: ByteRange, signal?: AbortSignal): Promise<StoredRead | null> {
    const location = this.#locate(key);
    signal?.throwIfAborted();
    // No published file is a link, so any link here was created by something else.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
    const handle = await open(location, flags).catch(absentAsNull);
    if (handle === null) return null;
    const result = await readFrom(handle, key, range, signal).catch(async (error: unknown) => {
      await handle.close();
      throw error;
    });
    if (result === null) await handle.close();
    return result;
  }

  list(prefix: string, signal?: AbortSignal): AsyncIterable<StoredFile> {
    return listBelow(prefix === '' ? this.#objects : this.#locate(prefix), prefix, signal);
  }

  async put(
    key: string,
    source: LocalFile | AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<void> {
    const target = this.#locate(key);
    if (!(Symbol.asyncIterator in source)) {
      await putFiles(this.#place, [{ path: source.path, key, target }], signal);
      return;
    }
    await using file = await this.scratch.receive(source, { maxBytes: Infinity }, signal);
    await putFiles(this.#place, [{ path: file.path, key, target }], signal);
  }

  async putMany(
    files: readonly (LocalFile & { readonly key: string })[],
    signal?: AbortSignal,
  ): Promise<void> {
    const placed = files.map((file) => ({ ...file, target: this.#locate(file.key) }));
    await putFiles(this.#place, placed, signal);
  }

  async join(
    key: string,
    parts: readonly (string | Piece)[],
    { minFreeBytes = 0 }: JoinOptions = {},
    signal?: AbortSignal,
  ): Promise<void> {
    const target = this.#locate(key);
    if (await this.#linkWhole(parts, { key, target }, signal)) return;
    const options = { maxBytes: Infinity, minFreeBytes, ownsChunks: true };
    await using file = await this.scratch.receive(joined(this, parts, signal), options, signal);
    await putFiles(this.#place, [{ path: file.path, key, target }], signal);
  }

  openPieces(prefix: string, held: readonly Piece[]): PieceWriter {
    const key = `${prefix}/${randomUUID()}`;
    return new DiskPieces(this.#objects, { key, target: this.#locate(key) }, held);
  }

  /** Adds a hard link for a piece that is an entire file, which avoids a copy. */
  async #linkWhole(
    [part, ...more]: readonly (string | Piece)[],
    placed: { key: string; target: string },
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    if (part === undefined || typeof part === 'string' || more.length > 0) return false;
    signal?.throwIfAborted();
    const location = this.#locate(part.key);
    const stats = await lstat(location).catch(absentAsNull);
    if (stats?.isFile() !== true || stats.size !== part.sizeBytes) return false;
    await using folder = await this.scratch.createFolder('join');
    const whole = path.join(folder.path, 'whole');
    if (!(await linkOrCopy(location, whole))) return false;
    await putFiles(this.#place, [{ path: whole, ...placed }], signal);
    return true;
  }

  async remove(key: string, signal?: AbortSignal): Promise<void> {
    const location = this.#locate(key);
    signal?.throwIfAborted();
    const stats = await lstat(location).catch(absentAsNull);
    if (stats === null || stats.isDirectory()) return;
    await unlink(location).catch(absentAsNull);
    await pruneAndSync(this.#objects, path.dirname(location));
  }

  async removePrefix(prefix: string, signal?: AbortSignal): Promise<void> {
    const location = this.#locate(prefix);
    signal?.throwIfAborted();
    const stats = await lstat(location).catch(absentAsNull);
    if (stats?.isDirectory() !== true) return;
    const aside = path.join(this.#trash, randomUUID());
    if ((await rename(location, aside).catch(absentAsNull)) === null) return;
    await pruneAndSync(this.#objects, path.dirname(location));
    await rm(aside, { recursive: true, force: true, maxRetries: 2 });
  }

  async materialize(
    key: string,
    localFolder: string,
    signal?: AbortSignal,
  ): Promise<string | null> {
    const location = this.#locate(key);
    signal?.throwIfAborted();
    // Many keys share a last segment, such as `source.mp4`, and programs look at the extension.
    const target = path.join(localFolder, randomUUID() + path.extname(location));
    const stats = await lstat(location).catch(absentAsNull);
    if (stats?.isFile() !== true) return null;
    return (await linkOrCopy(location, target)) ? target : null;
  }

  /** Only the service reads the folder. */
  async signedUrl(key: string): Promise<null> {
    keySegments(key);
    return null;
  }

  async cleanUp(olderThanMs: number, signal?: AbortSignal): Promise<number> {
    let removed = await this.scratch.cleanUp(olderThanMs, signal);
    for await (const entry of await opendir(this.#trash)) {
      signal?.throwIfAborted();
      await rm(path.join(this.#trash, entry.name), { recursive: true, force: true, maxRetries: 2 });
      removed += 1;
    }
    return removed;
  }

  get #place(): DiskPlace {
    return { objects: this.#objects, scratch: this.scratch };
  }

  #locate(key: string): string {
    return path.join(this.#objects, ...keySegments(key));
  }
}

/** Depth first, with one open folder per level. Skips entries that vanish during the listing. */
async function* listBelow(
  folder: string,
  prefix: string,
  signal?: AbortSignal,
): AsyncGenerator<StoredFile> {
  const entries = await opendir(folder).catch(absentAsNull);
  if (entries === null) return;
  for await (const entry of entries) {
    signal?.throwIfAborted();
    const key = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    const location = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* listBelow(location, key, signal);
    if (!entry.isFile()) continue;
    const stats = await lstat(location, { bigint: true }).catch(absentAsNull);
    if (stats !== null) yield describe(key, stats);
  }
}

/** Makes a removal durable, and removes parent folders that are now empty. */
async function pruneAndSync(root: string, folder: string): Promise<void> {
  let current = folder;
  while (current !== root && (await removeIfEmpty(current))) current = path.dirname(current);
  await sync(current).catch(absentAsNull);
}

async function removeIfEmpty(folder: string): Promise<boolean> {
  try {
    await rmdir(folder);
    return true;
  } catch (error) {
    return systemCode(error) === 'ENOENT';
  }
}

/** Creates a hard link to a file, or a copy if the file system has no links. */
async function linkOrCopy(source: string, target: string): Promise<boolean> {
  try {
    await link(source, target);
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    if (!['EXDEV', 'EPERM', 'ENOTSUP', 'EMLINK'].includes(systemCode(error))) throw error;
  }
  try {
    await copyFile(source, target, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw asStorageError(error);
  }
}
