/**
 * The private space for files that aren't finished: uploads that arrive, folders that FFmpeg
 * writes. It lies on the device that the disk storage publishes to, so publishing is one rename.
 */
import { randomUUID } from 'node:crypto';
import { lstat, mkdir, opendir, rm, statfs } from 'node:fs/promises';
import path from 'node:path';
import { segmentProblem } from './keys.ts';
import { receiveFile, type ReceivedFile, type ReceiveOptions } from './receive.ts';
import { absentAsNull, asStorageError, InvalidKeyError } from './storage-errors.ts';

/** A fresh empty folder that only this process's user can read. Disposing removes it. */
export type WorkFolder = AsyncDisposable & { readonly path: string };

export interface WorkArea {
  /** `name` says in a directory listing whose folder it is; the rest is random. */
  createFolder(name: string): Promise<WorkFolder>;

  /**
   * Writes a stream to a synced file with flat memory and back-pressure; see `ReceiveOptions`.
   * Throws `FileTooLargeError`, `StorageFullError`, what `onFirstBytes` throws, or the signal's
   * reason, and leaves no file then. The source is never destroyed here.
   */
  receive(
    source: AsyncIterable<Uint8Array>,
    options: ReceiveOptions,
    signal?: AbortSignal,
  ): Promise<ReceivedFile>;

  /** Bytes that an ordinary user can still write on the device. */
  freeBytes(): Promise<number>;

  /**
   * Removes what nobody touched for `olderThanMs` and this process doesn't hold, and returns how
   * many. Other processes share the area, so only age tells what a crash left.
   */
  cleanUp(olderThanMs: number, signal?: AbortSignal): Promise<number>;
}

/** A folder's own time doesn't move while FFmpeg appends to a file in it, so these are asked too. */
const maxEntriesAsked = 1_000;

/** Opens the work area at `root`, an existing folder. */
export function openWorkArea(root: string): WorkArea {
  /** What this process holds, so that a job may run longer than any age limit. */
  const held = new Set<string>();

  const freeBytes = async (): Promise<number> => {
    const stats = await statfs(root);
    return stats.bavail * stats.bsize;
  };

  /** Reserves a path; the returned function removes what is there and lets go of it. */
  const claim = (name: string): { path: string; release: () => Promise<void> } => {
    const problem = segmentProblem(name);
    if (problem !== null) throw new InvalidKeyError(problem);
    const claimed = path.join(root, `${name}-${randomUUID()}`);
    held.add(claimed);
    const release = async (): Promise<void> => {
      await rm(claimed, { recursive: true, force: true, maxRetries: 2 });
      held.delete(claimed);
    };
    return { path: claimed, release };
  };

  return {
    freeBytes,

    async createFolder(name) {
      const { path: folder, release } = claim(name);
      try {
        await mkdir(folder, { mode: 0o700 });
      } catch (error) {
        await release();
        throw asStorageError(error);
      }
      return { path: folder, [Symbol.asyncDispose]: release };
    },

    async receive(source, options, signal) {
      const { path: filePath, release } = claim('receive');
      try {
        const file = await receiveFile(source, filePath, options, freeBytes, signal);
        return { ...file, [Symbol.asyncDispose]: release };
      } catch (error) {
        held.delete(filePath);
        throw error;
      }
    },

    async cleanUp(olderThanMs, signal) {
      const keepSince = Date.now() - olderThanMs;
      let removed = 0;
      for await (const entry of await opendir(root)) {
        signal?.throwIfAborted();
        const leftover = path.join(root, entry.name);
        if (held.has(leftover) || (await lastTouchedAt(leftover)) > keepSince) continue;
        await rm(leftover, { recursive: true, force: true, maxRetries: 2 });
        removed += 1;
      }
      return removed;
    },
  };
}

/** The newest modification time, in Unix milliseconds, of a path and the entries right in it. */
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
