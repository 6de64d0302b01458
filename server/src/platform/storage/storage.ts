/**
 * Where media bytes live. There is one implementation, on disk. Any other one, such as S3, must pass
 * the conformance suite in `conformance.ts` as well.
 *
 * Rules that hold for every implementation:
 *  1. A write that resolved survives power loss.
 *  2. A reader sees a file whole or not at all, under its old bytes or its new ones.
 *  3. Keys are checked before anything else (`keys.ts`); a bad one throws `InvalidKeyError`.
 *  4. What is absent is `null` when read and nothing when removed.
 *  5. A device without room throws `StorageFullError`, and what was half written is gone.
 */
import type { Readable } from 'node:stream';
import type { WorkArea } from './work-area.ts';

export type StoredFile = {
  readonly key: string;
  readonly sizeBytes: number;
  readonly modifiedAt: Date;
  /** A strong validator with its quotes: other bytes under the same key have another one. */
  readonly etag: string;
};

/** `end` is inclusive and may lie behind the end of the file, as in an HTTP range. */
export type ByteRange =
  | { readonly start: number; readonly end?: number }
  | { readonly lastBytes: number };

export type StoredRead = StoredFile & {
  /** Must be read to its end or destroyed, or its descriptor stays open. */
  readonly stream: Readable;
  /** What `stream` carries: `lengthBytes` bytes from `offsetBytes` on. */
  readonly offsetBytes: number;
  readonly lengthBytes: number;
};

export interface Storage {
  /** The private space for unfinished files, from which the methods below publish. */
  readonly work: WorkArea;

  /** Size, time and ETag of a file, or null. A prefix is not a file. */
  head(key: string, signal?: AbortSignal): Promise<StoredFile | null>;

  /**
   * Opens a file. The whole one, or a part that the file does hold: a range that starts behind
   * the end throws `RangeNotSatisfiableError`. A reader keeps its bytes when the key is replaced
   * or removed meanwhile.
   */
  read(key: string, range?: ByteRange, signal?: AbortSignal): Promise<StoredRead | null>;

  /** Every file below a prefix, in no promised order, with flat memory. `''` is everything. */
  list(prefix: string, signal?: AbortSignal): AsyncIterable<StoredFile>;

  /**
   * Moves a finished local file to `key`, replacing a file that is there. Throws `KeyTakenError`
   * when `key` is a prefix or runs through a file, `UnsafeSourceError` for anything but a file.
   */
  putFile(localPath: string, key: string, signal?: AbortSignal): Promise<void>;

  /**
   * Moves a finished local folder to `prefix`, all of it or nothing. Throws `KeyTakenError` when
   * something is stored there, and `UnsafeSourceError` for a folder that is empty or holds
   * anything but plain files and folders with valid names: FFmpeg's output is not trusted to be
   * free of links. After either the local folder is untouched.
   */
  putFolder(localFolder: string, prefix: string, signal?: AbortSignal): Promise<void>;

  /**
   * Adds the files of a local folder to a published prefix, such as further renditions. A file
   * that is there is replaced. Those named in `last` (such as `master.m3u8`) are replaced in that
   * order when all others are durable, so that no reader follows a reference to nothing. Running
   * it again after a crash completes it. Throws `PrefixMissingError` when the prefix is not there.
   */
  putIntoFolder(
    localFolder: string,
    prefix: string,
    options: { readonly last: readonly string[] },
    signal?: AbortSignal,
  ): Promise<void>;

  /** Removes a file; nothing happens when there is none. */
  remove(key: string, signal?: AbortSignal): Promise<void>;

  /**
   * Removes everything below a prefix; nothing happens when it is absent. It disappears for
   * readers before the first of its files is erased.
   */
  removePrefix(prefix: string, signal?: AbortSignal): Promise<void>;

  /**
   * Puts a file where a program can open it: returns a path inside `localFolder`, or null when
   * the file is absent. It must be treated as read-only (on a disk it shares the stored bytes)
   * and stays readable when the key is removed meanwhile.
   */
  materialize(key: string, localFolder: string, signal?: AbortSignal): Promise<string | null>;

  /**
   * Removes what crashed processes left behind: work untouched for `olderThanMs` and removals
   * that were cut short. Returns how many leftovers went. Run it at start and then and again.
   */
  cleanUp(olderThanMs: number, signal?: AbortSignal): Promise<number>;
}
