/**
 * The private local space for unfinished files: incoming uploads, and folders that FFmpeg writes. A
 * disk storage keeps it on its own device, so that a put needs no copy.
 */
import { randomUUID } from 'node:crypto';
import { lstat, mkdir, opendir, rm, statfs } from 'node:fs/promises';
import path from 'node:path';
import { segmentProblem } from './keys.ts';
import { receiveFile, type ReceivedFile, type ReceiveOptions } from './receive.ts';
import {
  absentAsNull,
  asStorageError,
  InvalidKeyError,
  StorageFullError,
} from './storage-errors.ts';

/** A new empty folder that only this process's user can read. Disposing of it removes it. */
export type ScratchFolder = AsyncDisposable & { readonly path: string };

/**
 * Appending to a file does not change its folder's modification time, so this many entries are
 * checked, too.
 */
const maxEntriesAsked = 1_000;

/** A scratch area at `root`, an existing folder that other processes may share. */
export class Scratch {
  readonly #root: string;
  /** Paths in use by this process, which are never removed because of their age. */
  readonly #held = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  /** `name` identifies the purpose of the folder in a directory listing; the rest is random. */
  async createFolder(name: string): Promise<ScratchFolder> {
    const folder = this.#claim(name);
    try {
      await mkdir(folder, { mode: 0o700 });
    } catch (error) {
      this.#held.delete(folder);
      throw asStorageError(error);
    }
    return { path: folder, [Symbol.asyncDispose]: () => this.#release(folder) };
  }

  /**
   * Writes a stream to a synced file with constant memory and back-pressure; see `ReceiveOptions`.
   * The source is never destroyed here, and no file is left after an error.
   *
   * @throws FileTooLargeError, StorageFullError, what `onFirstBytes` throws, or the signal's reason
   */
  async receive(
    source: AsyncIterable<Uint8Array>,
    options: ReceiveOptions,
    signal?: AbortSignal,
  ): Promise<ReceivedFile> {
    const filePath = this.#claim('receive');
    try {
      const file = await receiveFile(source, filePath, options, () => this.freeBytes(), signal);
      return { ...file, [Symbol.asyncDispose]: () => this.#release(filePath) };
    } catch (error) {
      this.#held.delete(filePath);
      throw error;
    }
  }

  /** @throws StorageFullError if the device has less free space */
  async requireFree(bytes: number): Promise<void> {
    if (bytes > 0 && (await this.freeBytes()) < bytes) throw new StorageFullError();
  }

  /** Bytes that an ordinary user can still write on the device. */
  async freeBytes(): Promise<number> {
    const stats = await statfs(this.#root);
    return stats.bavail * stats.bsize;
  }

  /**
   * Removes entries that this process doesn't hold and that have not changed for `olderThanMs`, and
   * returns how many. Other processes share the area, so only their age identifies leftovers of a
   * crash.
   */
  async cleanUp(olderThanMs: number, signal?: AbortSignal): Promise<number> {
    let removed = 0;
    for await (const leftover of staleEntries(this.#root, olderThanMs)) {
      signal?.throwIfAborted();
      if (this.#held.has(leftover)) continue;
      await rm(leftover, { recursive: true, force: true, maxRetries: 2 });
      removed += 1;
    }
    return removed;
  }

  /** Reserves a unique path. */
  #claim(name: string): string {
    const problem = segmentProblem(name);
    if (problem !== null) throw new InvalidKeyError(problem);
    const claimed = path.join(this.#root, `${name}-${randomUUID()}`);
    this.#held.add(claimed);
    return claimed;
  }

  /** Releases a claimed path and removes its contents, unless they were moved away. */
  async #release(claimed: string): Promise<void> {
    await rm(claimed, { recursive: true, force: true, maxRetries: 2 });
    this.#held.delete(claimed);
  }
}

/** The direct children of a folder that have not changed for `olderThanMs`. */
export async function* staleEntries(folder: string, olderThanMs: number): AsyncGenerator<string> {
  const keepSince = Date.now() - olderThanMs;
  for await (const { name } of await opendir(folder)) {
    const entry = path.join(folder, name);
    if ((await lastTouchedAt(entry)) <= keepSince) yield entry;
  }
}

/** The newest modification time, in Unix milliseconds, of a path and its direct children. */
async function lastTouchedAt(leftover: string): Promise<number> {
  const own = await lstat(leftover).catch(absentAsNull);
  if (own === null || !own.isDirectory()) return own?.mtimeMs ?? 0;
  let newest = own.mtimeMs;
  let asked = 0;
  for await (const entry of await opendir(leftover)) {
    const stats = await lstat(path.join(leftover, entry.name)).catch(absentAsNull);
    newest = Math.max(newest, stats?.mtimeMs ?? 0);
    asked += 1;
    if (asked === maxEntriesAsked) break;
  }
  return newest;
}
