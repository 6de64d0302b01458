/**
 * All media files in the repository, by key, with the attributes that show whether a file has
 * changed. A known file is not read again; files with identical bytes are stored once. Files
 * deleted from the storage stay in the index until retention removes them, because a restore to an
 * earlier point in time needs them.
 */
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import { Readable } from 'node:stream';
import { forEachOf } from '../storage/durable.ts';
import type { Storage, StoredFile } from '../storage/storage.ts';
import type { MediaEntry } from './manifest.ts';
import type { FileEntry, Repository } from './repository.ts';

type Known = MediaEntry & {
  etag: string;
  /**
   * When a pass first found the file missing from the storage, in milliseconds since the Unix
   * epoch.
   */
  goneAt?: number;
};

const indexKey = 'media-index.ndjson';
/**
 * Smaller files are read once, into memory. Larger ones are read twice: to hash them and to copy
 * them.
 */
const wholeBytes = 16 * 2 ** 20;
/** Most copies are small and spend most of their time waiting for S3. */
const parallelCopies = 4;

export class MediaIndex {
  readonly #repository: Repository;
  readonly #known = new Map<string, Known>();
  readonly #stored = new Set<string>();
  #isChanged = false;
  /** Number and total size of the files that this run has added. */
  readonly added = { files: 0, bytes: 0 };

  private constructor(repository: Repository) {
    this.#repository = repository;
  }

  static async open(repository: Repository): Promise<MediaIndex> {
    const index = new MediaIndex(repository);
    for await (const known of readLines<Known>(repository, indexKey)) {
      index.#known.set(known.key, known);
      index.#stored.add(known.path);
    }
    return index;
  }

  /** Files that are in the storage, or were within the last `keptMs`. */
  *entries(keptMs = 0, now = Date.now()): Generator<MediaEntry> {
    for (const { goneAt, key, path, sizeBytes, sha256 } of this.#known.values()) {
      if (goneAt === undefined || goneAt > now - keptMs) yield { key, path, sizeBytes, sha256 };
    }
  }

  /** Copies files that are new or were replaced since the last pass. */
  async pass(storage: Storage, signal?: AbortSignal): Promise<void> {
    const seen = new Set<string>();
    await forEachOf(
      newFiles(storage, this.#known, seen, signal),
      async (file) => {
        const entry = await this.#copy(storage, file, signal);
        if (entry === null) return;
        this.#known.set(file.key, entry);
        this.#isChanged = true;
      },
      signal,
      parallelCopies,
    );
    const now = Date.now();
    for (const known of this.#known.values()) {
      const isGone = !seen.has(known.key);
      if (isGone === (known.goneAt !== undefined)) continue;
      if (isGone) known.goneAt = now;
      else delete known.goneAt;
      this.#isChanged = true;
    }
  }

  async save(): Promise<void> {
    if (!this.#isChanged) return;
    await writeLines(this.#repository, indexKey, this.#known.values());
    this.#isChanged = false;
  }

  /** Forgets files that have been gone for longer than `keptMs` and that no backup holds. */
  forget(keptMs: number, isHeld: (path: string) => boolean, now = Date.now()): void {
    for (const { key, path, goneAt } of this.#known.values()) {
      if (goneAt === undefined || goneAt > now - keptMs || isHeld(path)) continue;
      this.#known.delete(key);
      this.#isChanged = true;
    }
  }

  async #copy(
    storage: Storage,
    { key, sizeBytes, etag }: StoredFile,
    signal?: AbortSignal,
  ): Promise<Known | null> {
    const isSmall = sizeBytes <= wholeBytes;
    const read = await storage.read(key, undefined, signal);
    // Deleted since it was listed.
    if (read === null) return null;
    const hash = createHash('sha256');
    const held: Buffer[] = [];
    for await (const chunk of read.stream as AsyncIterable<Buffer>) {
      hash.update(chunk);
      if (isSmall) held.push(chunk);
    }
    const sha256 = hash.digest('hex');
    const path = this.#repository.mediaKey(sha256);
    const entry = { key, path, sizeBytes: read.sizeBytes, sha256, etag: read.etag };
    if (this.#stored.has(path)) return entry;
    // Recorded before the copy, so that no second copy of the same bytes starts. A failed copy
    // fails the whole pass.
    this.#stored.add(path);
    const source = isSmall ? Readable.from(held) : (await storage.read(key))?.stream;
    if (source === undefined) return null;
    const options = signal === undefined ? {} : { signal };
    const put = await this.#repository.put(path, source, options);
    if (put.sha256 !== sha256) {
      await this.#repository.storage.remove(path);
      throw new Error(`${key} was replaced while it was being copied (${etag}).`);
    }
    this.added.files += 1;
    this.added.bytes += sizeBytes;
    return entry;
  }
}

async function* newFiles(
  storage: Storage,
  known: ReadonlyMap<string, Known>,
  seen: Set<string>,
  signal?: AbortSignal,
): AsyncGenerator<StoredFile> {
  for await (const file of storage.list('', signal)) {
    seen.add(file.key);
    if (known.get(file.key)?.etag !== file.etag) yield file;
  }
}

/** Writes any number of objects as lines of JSON. */
export async function writeLines(
  repository: Repository,
  key: string,
  values: Iterable<unknown>,
): Promise<FileEntry> {
  function* lines() {
    let page = '';
    for (const value of values) {
      page += `${JSON.stringify(value)}\n`;
      if (page.length < 64_000) continue;
      yield Buffer.from(page);
      page = '';
    }
    yield Buffer.from(page);
  }
  return repository.put(key, Readable.from(lines()), { compress: true });
}

/** Reads such a file. Yields nothing if there is none. */
export async function* readLines<T>(repository: Repository, key: string): AsyncGenerator<T> {
  const stream = await repository.read(key, { compressed: true });
  if (stream === null) return;
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  stream.once('error', failed.reject);
  const lines = createInterface({ input: stream })[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await Promise.race([lines.next(), failed.promise]);
    if (done === true) break;
    yield JSON.parse(value) as T;
  }
  if (stream.errored !== null) throw stream.errored;
}
