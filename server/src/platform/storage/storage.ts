/**
 * Storage of media bytes: objects by key, and a local scratch area for unfinished files. There are
 * two implementations: a local folder (`disk-storage.ts`) and an S3 bucket (`s3/s3-storage.ts`).
 * Both pass the conformance suite in `conformance.ts`.
 *
 * Rules that hold for every implementation:
 * 1. A put that resolved survives power loss.
 * 2. A reader sees an object completely or not at all, with its old bytes or its new ones.
 * 3. Keys are checked before anything else (`keys.ts`); an invalid one throws `InvalidKeyError`.
 * 4. Reading an absent object returns `null`, and removing one does nothing.
 * 5. A device without room throws `StorageFullError`, and partial writes are removed.
 * 6. A storage that is unreachable, or denies the service access, throws `StorageUnavailableError`.
 *
 * Nothing here moves or renames an object, and no two objects change together. Sets of several
 * files are published by `folders.ts`, whose manifest guarantees that they are complete.
 */
import type { Readable } from 'node:stream';
import type { Scratch } from './scratch.ts';

export type StoredFile = {
  readonly key: string;
  readonly sizeBytes: number;
  readonly modifiedAt: Date;
  /** A strong validator, including its quotes. It changes when the bytes of the key change. */
  readonly etag: string;
};

/** `end` is inclusive and may be beyond the end of the file, as in an HTTP range. */
export type ByteRange =
  | { readonly start: number; readonly end?: number }
  | { readonly lastBytes: number };

export type StoredRead = StoredFile & {
  /** Must be read to its end or destroyed. Otherwise its descriptor stays open. */
  readonly stream: Readable;
  /**
   * Reads everything to the beginning of a buffer, as a cheaper alternative to the stream. Absent
   * if the storage supports only streams.
   */
  readonly readInto?: (buffer: Buffer) => Promise<void>;
  /** The contents of `stream`: `lengthBytes` bytes from `offsetBytes` on. */
  readonly offsetBytes: number;
  readonly lengthBytes: number;
};

/** A finished local file, such as one written by `Scratch.receive`. A put takes it over. */
export type LocalFile = { readonly path: string };

/** The first `sizeBytes` bytes of an object. */
export type Piece = { readonly key: string; readonly sizeBytes: number };

/**
 * Bytes that are stored as they arrive. Disposing of it keeps flushed bytes and discards the rest.
 */
export type PieceWriter = AsyncDisposable & {
  /**
   * Takes the next bytes. After an error, no more are taken.
   *
   * @throws StorageFullError
   */
  write(bytes: Uint8Array): Promise<void>;

  /**
   * Makes everything taken so far durable, and readable by every process.
   *
   * @param isLast true if no byte follows, which lets a storage merge its pieces
   * @returns the pieces that now hold all bytes, including those from before this writer. Objects
   * that are no longer included may be removed
   */
  flush(isLast: boolean): Promise<readonly Piece[]>;
};

export type JoinOptions = {
  /**
   * Free bytes that must remain on the local device after a join; otherwise throws
   * `StorageFullError`. Default: 0.
   */
  readonly minFreeBytes?: number;
};

export type SignedUrlOptions = {
  readonly expiresInMs: number;
  /** Headers of the response. */
  readonly contentType: string;
  readonly contentDisposition: string;
};

export type Storage = {
  /** The private local space for unfinished files. */
  readonly scratch: Scratch;

  /**
   * The maximum difference between the times of objects and this process's clock, in milliseconds.
   */
  readonly maxClockSkewMs: number;

  /**
   * Resolves once the storage has responded.
   *
   * @throws StorageUnavailableError
   */
  check(signal?: AbortSignal): Promise<void>;

  /** Size, time and ETag of an object, or null. A prefix is not an object. */
  head(key: string, signal?: AbortSignal): Promise<StoredFile | null>;

  /**
   * Opens an object, completely or in the given range. A reader keeps reading the same bytes even
   * if the key is replaced or removed in the meantime.
   *
   * @throws RangeNotSatisfiableError for a range that starts beyond the end
   */
  read(key: string, range?: ByteRange, signal?: AbortSignal): Promise<StoredRead | null>;

  /**
   * All objects below a prefix, in no particular order, with constant memory. `''` lists
   * everything.
   */
  list(prefix: string, signal?: AbortSignal): AsyncIterable<StoredFile>;

  /**
   * Stores a local file or a stream under `key`, replacing an existing object. A local file may be
   * gone afterwards. A stream is never destroyed here.
   *
   * @throws UnsafeSourceError for a path that isn't a plain file
   */
  put(
    key: string,
    source: LocalFile | AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<void>;

  /**
   * Stores many local files, which is cheaper than one by one. All are durable when it resolves;
   * until then, and after an error, readers may find any of them.
   *
   * @throws UnsafeSourceError before anything is stored, for a path that isn't a plain file
   */
  putMany(
    files: readonly (LocalFile & { readonly key: string })[],
    signal?: AbortSignal,
  ): Promise<void>;

  /**
   * Concatenates the objects `parts` under `key`. The parts are kept. This supports uploads in many
   * parts: any process may put a part, the join completes the upload, and `removePrefix` of the
   * parts aborts it.
   *
   * @throws Error if a part is absent or too short; nothing is stored then
   */
  join(
    key: string,
    parts: readonly (string | Piece)[],
    options?: JoinOptions,
    signal?: AbortSignal,
  ): Promise<void>;

  /**
   * Opens a writer for bytes that follow those of `held`, below `prefix`. The object of its last
   * piece may grow until the writer is disposed of, so a piece must only be read up to its size.
   */
  openPieces(prefix: string, held: readonly Piece[]): PieceWriter;

  /** Removes an object; does nothing if it is absent. */
  remove(key: string, signal?: AbortSignal): Promise<void>;

  /** Removes every object below a prefix; does nothing if there is none. */
  removePrefix(prefix: string, signal?: AbortSignal): Promise<void>;

  /**
   * Makes an object available to programs as a file: returns a path inside `localFolder`, or null
   * if the object is absent. The file is read-only (a disk storage shares the stored bytes) and
   * stays readable if the key is removed in the meantime.
   */
  materialize(key: string, localFolder: string, signal?: AbortSignal): Promise<string | null>;

  /**
   * A URL with which anyone can fetch the object directly from the storage until the URL expires.
   * Null if clients cannot reach the storage; the service then sends the bytes itself. Does not
   * check whether the object exists.
   */
  signedUrl(key: string, options: SignedUrlOptions): Promise<string | null>;

  /**
   * Removes leftovers of crashed processes: scratch files, and interrupted puts and removals, that
   * have not changed for `olderThanMs`. Returns how many. Should be called at startup and regularly
   * after that.
   */
  cleanUp(olderThanMs: number, signal?: AbortSignal): Promise<number>;
};

/** Called after each operation of a back end on a server, including its retries. */
export type StorageObserver = (call: {
  readonly operation: string;
  /** `unsupported`: the server does not know the operation. */
  readonly outcome: 'ok' | 'absent' | 'unsupported' | 'error';
  readonly durationMs: number;
}) => void;
