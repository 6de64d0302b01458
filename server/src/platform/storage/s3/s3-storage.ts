/**
 * Storage in a bucket of S3 or of a compatible server. Keys are the same as on disk, below the
 * configured prefix; only the scratch area is local. Any number of machines may share a bucket.
 *
 * Acknowledged objects are in the bucket, because every put returns only after S3 has confirmed the
 * whole object. S3 has read-after-write consistency, so no sync is needed.
 */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { lstat, rm } from 'node:fs/promises';
import path from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { coalesce } from '../../async/coalesce.ts';
import { forEachOf, makeFolder } from '../durable.ts';
import { joined, keyOf } from '../joined.ts';
import { isStorageKey, keySegments } from '../keys.ts';
import { resolveRange } from '../ranges.ts';
import { Scratch } from '../scratch.ts';
import { asStorageError, StorageFullError, UnsafeSourceError } from '../storage-errors.ts';
import type {
  ByteRange,
  JoinOptions,
  LocalFile,
  Piece,
  PieceWriter,
  SignedUrlOptions,
  Storage,
  StoredFile,
  StoredRead,
  StorageObserver,
} from '../storage.ts';
import { Bucket, type S3Options } from './bucket.ts';
import { holds, toHeader } from './byte-range.ts';
import { ResumingBody } from './resuming-body.ts';
import { S3Pieces } from './s3-pieces.ts';
import { minPartBytes, Puts } from './s3-put.ts';

/** S3 rejects signed requests whose time differs by more than this. */
const maxClockSkewMs = 15 * 60_000;
/** Maximum size that a copy within S3 can have. */
const maxCopyBytes = 5 * 2 ** 30;
const maxJoinedParts = 10_000;
const maxParallelPuts = 8;
/** Caches the result for `/readyz`, because each check costs a billed request. */
const checkedForMs = 5_000;

/**
 * Opens the storage in a bucket, with its scratch area in a local folder.
 *
 * @throws {StorageUnavailableError} if the bucket cannot be listed
 */
export async function openS3Storage(
  options: S3Options,
  scratchFolder: string,
  observe: StorageObserver = () => undefined,
): Promise<Storage> {
  await makeFolder(path.resolve(scratchFolder));
  const storage = new S3Storage(new Bucket(options, observe), new Scratch(scratchFolder));
  await storage.check();
  return storage;
}

class S3Storage implements Storage {
  readonly scratch: Scratch;
  readonly maxClockSkewMs = maxClockSkewMs;
  readonly check: () => Promise<void>;
  readonly #bucket: Bucket;
  readonly #puts: Puts;

  constructor(bucket: Bucket, scratch: Scratch) {
    this.#bucket = bucket;
    this.#puts = new Puts(bucket);
    this.scratch = scratch;
    this.check = coalesce(() => this.#listOne(), checkedForMs);
  }

  async head(key: string, signal?: AbortSignal): Promise<StoredFile | null> {
    keySegments(key);
    const found = await this.#bucket.call(
      'HeadObject',
      (client, options) => client.headObject(this.#bucket.at(key), options),
      signal,
    );
    return found === null ? null : describe(key, found.ContentLength ?? 0, found);
  }

  async read(key: string, range?: ByteRange, signal?: AbortSignal): Promise<StoredRead | null> {
    keySegments(key);
    const header = range === undefined ? undefined : toHeader(range);
    // S3 would ignore an invalid range and send the whole object.
    if (header === null) return this.#readExactly(key, range, signal);
    const got = await this.#get(key, { Range: header }, signal);
    if (got === null) return null;
    if (got === 'no range') return this.#readExactly(key, range, signal);
    const read = this.#toRead(key, got, signal);
    if (holds(read, range)) return read;
    read.stream.destroy();
    return this.#readExactly(key, range, signal);
  }

  async *list(prefix: string, signal?: AbortSignal): AsyncGenerator<StoredFile> {
    if (prefix !== '') keySegments(prefix);
    for await (const page of this.#pages(prefix, signal)) yield* page;
  }

  async put(
    key: string,
    source: LocalFile | AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<void> {
    keySegments(key);
    signal?.throwIfAborted();
    if (Symbol.asyncIterator in source) await this.#puts.putStream(key, source, signal);
    else await this.#puts.putFile(key, source, signal);
  }

  async putMany(
    files: readonly (LocalFile & { readonly key: string })[],
    signal?: AbortSignal,
  ): Promise<void> {
    for (const { key } of files) keySegments(key);
    for (const { path: local } of files) {
      if (!(await lstat(local)).isFile()) throw new UnsafeSourceError('it is not a file');
    }
    await forEachOf(
      files,
      (file) => this.#puts.putFile(file.key, file, signal),
      signal,
      maxParallelPuts,
    );
  }

  async join(
    key: string,
    parts: readonly (string | Piece)[],
    _options?: JoinOptions,
    signal?: AbortSignal,
  ): Promise<void> {
    keySegments(key);
    const sizes: number[] = [];
    for (const part of parts) {
      const isPiece = typeof part !== 'string';
      sizes.push(isPiece ? part.sizeBytes : ((await this.head(part, signal))?.sizeBytes ?? 0));
    }
    const isCopied = (size: number, index: number): boolean =>
      size > 0 && size <= maxCopyBytes && (size >= minPartBytes || index === parts.length - 1);
    const canCopy = parts.length > 0 && parts.length <= maxJoinedParts && sizes.every(isCopied);
    if (canCopy) await this.#puts.join(key, parts.map(keyOf), signal);
    else await this.#puts.putStream(key, joined(this, parts, signal), signal);
  }

  openPieces(prefix: string, held: readonly Piece[]): PieceWriter {
    keySegments(prefix);
    return new S3Pieces(prefix, held, { storage: this, puts: this.#puts });
  }

  async remove(key: string, signal?: AbortSignal): Promise<void> {
    keySegments(key);
    await this.#bucket.call(
      'DeleteObject',
      (client, options) => client.deleteObject(this.#bucket.at(key), options),
      signal,
    );
  }

  async removePrefix(prefix: string, signal?: AbortSignal): Promise<void> {
    keySegments(prefix);
    const bucket = this.#bucket;
    for await (const page of this.#pages(prefix, signal)) {
      if (page.length === 0) continue;
      const Delete = { Objects: page.map(({ key }) => ({ Key: bucket.at(key).Key })), Quiet: true };
      const { Errors = [] } = await bucket.require(
        'DeleteObjects',
        (client, options) => client.deleteObjects({ Bucket: bucket.name, Delete }, options),
        signal,
      );
      const [first] = Errors;
      if (first !== undefined) throw new Error(`S3 did not remove ${first.Key}: ${first.Code}`);
    }
  }

  async materialize(
    key: string,
    localFolder: string,
    signal?: AbortSignal,
  ): Promise<string | null> {
    const read = await this.read(key, undefined, signal);
    if (read === null) return null;
    const target = path.join(localFolder, randomUUID() + path.extname(key));
    try {
      if ((await this.scratch.freeBytes()) < read.lengthBytes) throw new StorageFullError();
      const file = createWriteStream(target, { flags: 'wx', mode: 0o600 });
      await pipeline(read.stream, file, signal === undefined ? {} : { signal });
      return target;
    } catch (error) {
      read.stream.destroy();
      await rm(target, { force: true });
      throw asStorageError(error);
    }
  }

  async signedUrl(
    key: string,
    { expiresInMs, contentType, contentDisposition }: SignedUrlOptions,
  ): Promise<string | null> {
    keySegments(key);
    const { publicClient } = this.#bucket;
    if (publicClient === null) return null;
    const [{ GetObjectCommand }, { getSignedUrl }] = await Promise.all([
      import('@aws-sdk/client-s3'),
      import('@aws-sdk/s3-request-presigner'),
    ]);
    const command = new GetObjectCommand({
      ...this.#bucket.at(key),
      ResponseContentType: contentType,
      ResponseContentDisposition: contentDisposition,
      ResponseCacheControl: 'private, no-store',
    });
    return getSignedUrl(publicClient, command, { expiresIn: Math.ceil(expiresInMs / 1_000) });
  }

  async cleanUp(olderThanMs: number, signal?: AbortSignal): Promise<number> {
    const removed = await this.scratch.cleanUp(olderThanMs, signal);
    return removed + (await this.#puts.abortUnfinished(olderThanMs, signal));
  }

  async #listOne(): Promise<void> {
    await this.#bucket.require('ListObjectsV2', (client, options) =>
      client.listObjectsV2({ ...this.#bucket.below(''), MaxKeys: 1 }, options),
    );
  }

  /** Lists the objects below a prefix, up to 1,000 at a time. */
  async *#pages(prefix: string, signal?: AbortSignal): AsyncGenerator<StoredFile[]> {
    let token: { ContinuationToken?: string } = {};
    for (;;) {
      const page = await this.#bucket.require(
        'ListObjectsV2',
        (client, options) =>
          client.listObjectsV2({ ...this.#bucket.below(prefix), ...token }, options),
        signal,
      );
      yield (page.Contents ?? []).flatMap((entry) => {
        const key = this.#bucket.keyOf(entry.Key ?? '');
        // S3 consoles represent folders by empty objects whose keys end with a slash. These are not
        // ours.
        return isStorageKey(key) ? [describe(key, entry.Size ?? 0, entry)] : [];
      });
      if (page.NextContinuationToken === undefined) return;
      token = { ContinuationToken: page.NextContinuationToken };
    }
  }

  async #get(
    key: string,
    condition: { Range?: string | undefined; IfMatch?: string | undefined },
    signal?: AbortSignal,
  ): Promise<GetObjectCommandOutput | 'no range' | null> {
    return this.#bucket.call(
      'GetObject',
      (client, options) =>
        client.getObject({ ...this.#bucket.at(key), ...condition }, options).catch((error) => {
          if (error?.$metadata?.httpStatusCode === 416) return 'no range' as const;
          throw error;
        }),
      signal,
    );
  }

  #toRead(key: string, got: GetObjectCommandOutput, signal?: AbortSignal): StoredRead {
    const lengthBytes = got.ContentLength ?? 0;
    const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(got.ContentRange ?? '') ?? [];
    const offsetBytes = Number(start ?? 0);
    const file = describe(key, Number(total ?? lengthBytes), got);
    const end = offsetBytes + lengthBytes;
    const reopen = async (at: number): Promise<Readable> => {
      const rest = { Range: `bytes=${at}-${end - 1}`, IfMatch: file.etag };
      const again = await this.#get(key, rest, signal);
      if (again === null || again === 'no range') throw new Error(`${key} no longer exists`);
      return again.Body as Readable;
    };
    const stream = new ResumingBody(got.Body as Readable, offsetBytes, end, reopen);
    if (signal !== undefined) addAbortSignal(signal, stream);
    return { ...file, offsetBytes, lengthBytes, stream };
  }

  /**
   * Reads a range by its first and last byte after S3 rejected it or returned other bytes, as some
   * servers do for the last bytes of an object. Returns null if the object does not exist.
   *
   * @throws {RangeNotSatisfiableError} with the size of the object
   */
  async #readExactly(
    key: string,
    range: ByteRange | undefined,
    signal?: AbortSignal,
  ): Promise<StoredRead | null> {
    const file = await this.head(key, signal);
    if (file === null) return null;
    const { offsetBytes, lengthBytes } = resolveRange(range, file.sizeBytes);
    const exact = `bytes=${offsetBytes}-${offsetBytes + lengthBytes - 1}`;
    const got = await this.#get(key, { Range: exact, IfMatch: file.etag }, signal);
    if (got === null) return null;
    if (got === 'no range') throw new Error(`S3 rejected a range of ${key}`);
    const read = this.#toRead(key, got, signal);
    if (holds(read, range)) return read;
    read.stream.destroy();
    throw new Error(`S3 returned a different range of ${key} than requested`);
  }
}

function describe(
  key: string,
  sizeBytes: number,
  { LastModified, ETag }: { LastModified?: Date | undefined; ETag?: string | undefined },
): StoredFile {
  return { key, sizeBytes, modifiedAt: LastModified ?? new Date(0), etag: ETag ?? '""' };
}
