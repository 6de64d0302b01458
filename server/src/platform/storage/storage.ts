/**
 * Where media bytes live: objects by key, and a local scratch area for what isn't finished. There are
 * two implementations: a local folder (`disk-storage.ts`) and an S3 bucket (`s3/s3-storage.ts`). Both
 * pass the conformance suite in `conformance.ts`.
 *
 * Rules that hold for every implementation:
 *  1. A put that resolved survives power loss.
 *  2. A reader sees an object whole or not at all, with its old bytes or its new ones.
 *  3. Keys are checked before anything else (`keys.ts`); a bad one throws `InvalidKeyError`.
 *  4. What is absent is `null` when read and nothing when removed.
 *  5. A device without room throws `StorageFullError`, and what was half written is gone.
 *  6. A storage that is out of reach, or refuses the service, throws `StorageUnavailableError`.
 *
 * Nothing here moves or renames an object, and no two objects change together. What consists of
 * several files is published by `folders.ts`, whose manifest says that all of them are there.
 */
import type { Readable } from 'node:stream';
import type { Scratch } from './scratch.ts';

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
  /**
   * Reads everything to the beginning of a buffer, in place of the stream and for less work. Absent
   * where the storage has streams alone.
   */
  readonly readInto?: (buffer: Buffer) => Promise<void>;
  /** What `stream` carries: `lengthBytes` bytes from `offsetBytes` on. */
  readonly offsetBytes: number;
  readonly lengthBytes: number;
};

/** A finished local file, such as one that `Scratch.receive` wrote. A put takes it over. */
export type LocalFile = { readonly path: string };

/** The first `sizeBytes` bytes of an object. */
export type Piece = { readonly key: string; readonly sizeBytes: number };

/**
 * Bytes that are stored while they arrive. Disposing keeps what a `flush` has answered, and forgets
 * the rest.
 */
export type PieceWriter = AsyncDisposable & {
  /** Takes the next bytes; what comes after an error is not taken. @throws StorageFullError */
  write(bytes: Uint8Array): Promise<void>;

  /**
   * Makes everything durable that was taken, and readable by every process.
   *
   * @param isLast says that no byte follows, which lets a storage tidy its pieces
   * @returns the pieces that hold all bytes now, those before this writer included. Objects that are
   *   no longer among them may be removed.
   */
  flush(isLast: boolean): Promise<readonly Piece[]>;
};

export type JoinOptions = {
  /** Local free bytes that a join must leave, or `StorageFullError`. Default 0. */
  readonly minFreeBytes?: number;
};

export type SignedUrlOptions = {
  readonly expiresInMs: number;
  /** What the answer says about the file, as headers. */
  readonly contentType: string;
  readonly contentDisposition: string;
};

export type Storage = {
  /** The private local space for unfinished files. */
  readonly scratch: Scratch;

  /** How far the times of objects may be away from this process's clock, in milliseconds. */
  readonly maxClockSkewMs: number;

  /** Returns once the storage has answered. @throws StorageUnavailableError */
  check(signal?: AbortSignal): Promise<void>;

  /** Size, time and ETag of an object, or null. A prefix is not an object. */
  head(key: string, signal?: AbortSignal): Promise<StoredFile | null>;

  /**
   * Opens an object: the whole of it, or the part of a range that it holds. A reader keeps its bytes
   * when the key is replaced or removed meanwhile.
   *
   * @throws RangeNotSatisfiableError for a range that starts behind the end
   */
  read(key: string, range?: ByteRange, signal?: AbortSignal): Promise<StoredRead | null>;

  /** Every object below a prefix, in no promised order, with flat memory. `''` is everything. */
  list(prefix: string, signal?: AbortSignal): AsyncIterable<StoredFile>;

  /**
   * Stores a local file or a stream under `key`, replacing what is there. A local file may be gone
   * afterwards. The source of a stream is never destroyed here.
   *
   * @throws UnsafeSourceError for a path that isn't a plain file
   */
  put(
    key: string,
    source: LocalFile | AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<void>;

  /**
   * Stores many local files, cheaper than one by one. All are durable when it resolves; until then,
   * and after an error, readers may find any of them.
   *
   * @throws UnsafeSourceError before anything is stored, for a path that isn't a plain file
   */
  putMany(
    files: readonly (LocalFile & { readonly key: string })[],
    signal?: AbortSignal,
  ): Promise<void>;

  /**
   * Stores the bytes of `parts`, which are objects, one after the other under `key`. The parts stay.
   * An upload in many parts is this: each part is put by whichever process receives it, the join
   * completes it, and `removePrefix` of the parts aborts it.
   *
   * @throws Error when a part is absent or short; nothing is stored then
   */
  join(
    key: string,
    parts: readonly (string | Piece)[],
    options?: JoinOptions,
    signal?: AbortSignal,
  ): Promise<void>;

  /**
   * Opens a writer for bytes that follow those of `held`, below `prefix`. The object of its last piece
   * may grow until the writer is disposed, so a piece is read as far as its size says.
   */
  openPieces(prefix: string, held: readonly Piece[]): PieceWriter;

  /** Removes an object; nothing happens when there is none. */
  remove(key: string, signal?: AbortSignal): Promise<void>;

  /** Removes every object below a prefix; nothing happens when there is none. */
  removePrefix(prefix: string, signal?: AbortSignal): Promise<void>;

  /**
   * Puts an object where a program can open it: returns a path inside `localFolder`, or null when
   * the object is absent. It must be treated as read-only (on a disk it shares the stored bytes)
   * and stays readable when the key is removed meanwhile.
   */
  materialize(key: string, localFolder: string, signal?: AbortSignal): Promise<string | null>;

  /**
   * A URL by which anybody can fetch the object from the storage itself until it expires. Null when
   * clients cannot reach the storage: then the service sends the bytes. It does not say whether the
   * object exists.
   */
  signedUrl(key: string, options: SignedUrlOptions): Promise<string | null>;

  /**
   * Removes what crashed processes left behind: scratch files, puts and removals that were cut short
   * and have not been touched for `olderThanMs`. Returns how many leftovers went. Run it at start and regularly.
   */
  cleanUp(olderThanMs: number, signal?: AbortSignal): Promise<number>;
};
