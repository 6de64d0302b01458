/**
 * Puts objects into a bucket. An object of several parts is a multipart upload:
 *
 *   created → parts sent → complete (the object exists in full)
 *                        └→ aborted; after a crash, by `abortUnfinished`
 *
 * 1. No part of an upload is visible before it is complete.
 * 2. At most `maxPartsInMemory` parts are in memory, over all puts of the process.
 */
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import type { CompletedPart } from '@aws-sdk/client-s3';
import { untilAborted } from '../../async/until-aborted.ts';
import {
  isAbsent,
  StorageUnsupportedError,
  systemCode,
  UnsafeSourceError,
} from '../storage-errors.ts';
import type { LocalFile } from '../storage.ts';
import type { Bucket } from './bucket.ts';
import { RequestSlots } from './slots.ts';

/** S3 accepts at most 10,000 parts of equal size, each at least 5 MiB except for the last. */
const maxParts = 10_000;
export const minPartBytes = 5 * 2 ** 20;
const filePartBytes = 8 * 2 ** 20;
/** The size of a stream is unknown; 10,000 parts of this size are 156 GiB. */
const streamPartBytes = 16 * 2 ** 20;
const maxPartsInMemory = 16;
const maxParallelParts = 4;

type Part = { readonly number: number; readonly bytes: Buffer };
type Parts = { readonly generator: AsyncGenerator<Part>; readonly partBytes: number };

export class Puts {
  readonly #bucket: Bucket;
  readonly #slots = new RequestSlots(maxPartsInMemory);
  /** Uploads of this process, which are not leftovers. */
  readonly #uploads = new Set<string>();
  /** False for a server that cannot list its uploads. */
  #listsUploads = true;

  constructor(bucket: Bucket) {
    this.#bucket = bucket;
  }

  /** @throws UnsafeSourceError for a path that isn't a plain file */
  async putFile(key: string, { path }: LocalFile, signal?: AbortSignal): Promise<void> {
    const handle = await openPlainFile(path);
    try {
      const { size } = await handle.stat();
      const partBytes = Math.max(filePartBytes, Math.ceil(size / maxParts));
      await this.#put(key, { generator: partsOfFile(handle, size, partBytes), partBytes }, signal);
    } finally {
      await handle.close();
    }
  }

  /** The source is never destroyed here. */
  async putStream(
    key: string,
    source: AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<void> {
    const generator = partsOfStream(source, streamPartBytes, signal);
    await this.#put(key, { generator, partBytes: streamPartBytes }, signal);
  }

  /** Joins objects by copies inside S3. All but the last must have at least `minPartBytes`. */
  async join(key: string, parts: readonly string[], signal?: AbortSignal): Promise<void> {
    const bucket = this.#bucket;
    await this.#upload(
      key,
      async (upload) => {
        const copied: CompletedPart[] = [];
        for (const [index, part] of parts.entries()) {
          const source = bucket.at(part);
          const number = { PartNumber: index + 1, CopySource: `${source.Bucket}/${source.Key}` };
          const { CopyPartResult } = await bucket.require(
            'UploadPartCopy',
            (client, options) => client.uploadPartCopy({ ...upload, ...number }, options),
            signal,
          );
          copied.push(completedPart(index + 1, CopyPartResult ?? {}));
        }
        return copied;
      },
      signal,
    );
  }

  /**
   * Aborts uploads that no live process can complete. On a server that cannot list them, they
   * remain until a bucket rule removes them.
   *
   * @returns how many
   */
  async abortUnfinished(olderThanMs: number, signal?: AbortSignal): Promise<number> {
    if (!this.#listsUploads) return 0;
    try {
      return await this.#abortListed(olderThanMs, signal);
    } catch (error) {
      if (!(error instanceof StorageUnsupportedError)) throw error;
      this.#listsUploads = false;
      return 0;
    }
  }

  async #abortListed(olderThanMs: number, signal?: AbortSignal): Promise<number> {
    const bucket = this.#bucket;
    const begunBefore = Date.now() - olderThanMs;
    let aborted = 0;
    let marker: { KeyMarker?: string; UploadIdMarker?: string } = {};
    for (;;) {
      const page = await bucket.require(
        'ListMultipartUploads',
        (client, options) =>
          client.listMultipartUploads({ ...bucket.below(''), ...marker }, options),
        signal,
      );
      for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
        if (Key === undefined || UploadId === undefined || this.#uploads.has(UploadId)) continue;
        if ((Initiated?.getTime() ?? 0) > begunBefore) continue;
        await this.#abort({ Bucket: bucket.name, Key, UploadId }, signal);
        aborted += 1;
      }
      if (page.IsTruncated !== true || page.NextKeyMarker === undefined) return aborted;
      const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
      marker = UploadIdMarker === undefined ? { KeyMarker } : { KeyMarker, UploadIdMarker };
    }
  }

  async #put(key: string, { generator, partBytes }: Parts, signal?: AbortSignal): Promise<void> {
    const slot = await this.#slots.take();
    using stack = new DisposableStack();
    stack.use(slot);
    const first = await generator.next();
    if (first.done === true) throw new Error('a source has at least one part');
    const { bytes } = first.value;
    if (bytes.length < partBytes) {
      const object = { ...this.#bucket.at(key), Body: bytes };
      await this.#bucket.require(
        'PutObject',
        (client, options) => client.putObject(object, options),
        signal,
      );
      return;
    }
    await this.#upload(
      key,
      async (upload) => {
        const sent = [await this.#sendPart(upload, first.value, signal)];
        stack.dispose();
        return [...sent, ...(await this.#sendRest(upload, generator, signal))];
      },
      signal,
    );
  }

  /** Sends the remaining parts, a few at a time. Starts no more after a failure. */
  async #sendRest(
    upload: Upload,
    parts: AsyncGenerator<Part>,
    signal?: AbortSignal,
  ): Promise<CompletedPart[]> {
    const sent: CompletedPart[] = [];
    let hasFailed = false;
    const work = async (): Promise<void> => {
      while (!hasFailed) {
        using _slot = await this.#slots.take();
        const next = await parts.next();
        if (next.done === true) return;
        sent.push(await this.#sendPart(upload, next.value, signal));
      }
    };
    const guarded = async (): Promise<void> =>
      work().catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    const outcomes = await Promise.allSettled(Array.from({ length: maxParallelParts }, guarded));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    return sent.toSorted((a, b) => (a.PartNumber ?? 0) - (b.PartNumber ?? 0));
  }

  async #sendPart(
    upload: Upload,
    { number, bytes }: Part,
    signal?: AbortSignal,
  ): Promise<CompletedPart> {
    const part = { ...upload, PartNumber: number, Body: bytes };
    const sent = await this.#bucket.require(
      'UploadPart',
      (client, options) => client.uploadPart(part, options),
      signal,
    );
    return completedPart(number, sent);
  }

  /** Creates an upload and completes it with the parts that `send` returns, or aborts it. */
  async #upload(
    key: string,
    send: (upload: Upload) => Promise<CompletedPart[]>,
    signal?: AbortSignal,
  ): Promise<void> {
    const bucket = this.#bucket;
    const { UploadId = '' } = await bucket.require(
      'CreateMultipartUpload',
      (client, options) => client.createMultipartUpload(bucket.at(key), options),
      signal,
    );
    const upload = { ...bucket.at(key), UploadId };
    this.#uploads.add(UploadId);
    try {
      const MultipartUpload = { Parts: await send(upload) };
      await bucket.require(
        'CompleteMultipartUpload',
        (client, options) =>
          client.completeMultipartUpload({ ...upload, MultipartUpload }, options),
        signal,
      );
    } catch (error) {
      // Only the first error is reported. `abortUnfinished` retries the abort.
      await this.#abort(upload).catch(() => undefined);
      throw error;
    } finally {
      this.#uploads.delete(UploadId);
    }
  }

  async #abort(upload: Upload, signal?: AbortSignal): Promise<void> {
    await this.#bucket.call(
      'AbortMultipartUpload',
      (client, options) => client.abortMultipartUpload(upload, options),
      signal,
    );
  }
}

type Upload = { readonly Bucket: string; readonly Key: string; readonly UploadId: string };

/** Includes the checksum if the server returned one, so that the completion can verify it. */
function completedPart(
  number: number,
  { ETag, ChecksumCRC32 }: { ETag?: string | undefined; ChecksumCRC32?: string | undefined },
): CompletedPart {
  return { PartNumber: number, ETag, ...(ChecksumCRC32 !== undefined && { ChecksumCRC32 }) };
}

async function openPlainFile(path: string): Promise<FileHandle> {
  // Rejects links and pipes. Without the last flag, opening a pipe would wait for its other end.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(path, flags).catch((error: unknown) => {
    const isLink = isAbsent(error) && systemCode(error) === 'ELOOP';
    throw isLink ? new UnsafeSourceError('it is not a file') : error;
  });
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new UnsafeSourceError('it is not a file');
}

/** At least one part, which may be empty. All but the last have `partBytes`. */
async function* partsOfFile(
  handle: FileHandle,
  sizeBytes: number,
  partBytes: number,
): AsyncGenerator<Part> {
  let left = sizeBytes;
  for (let number = 1; left > 0 || number === 1; number += 1) {
    const bytes = Buffer.allocUnsafe(Math.min(left, partBytes));
    for (let filled = 0; filled < bytes.length;) {
      const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled);
      if (bytesRead === 0) throw new Error('a file became shorter while it was being stored');
      filled += bytesRead;
    }
    yield { number, bytes };
    left -= bytes.length;
  }
}

/** Like `partsOfFile`. */
async function* partsOfStream(
  source: AsyncIterable<Uint8Array>,
  partBytes: number,
  signal?: AbortSignal,
): AsyncGenerator<Part> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let number = 1;
  for await (const chunk of untilAborted(source, signal)) {
    held.push(chunk);
    heldBytes += chunk.length;
    while (heldBytes >= partBytes) {
      const bytes = Buffer.concat(held);
      yield { number, bytes: bytes.subarray(0, partBytes) };
      number += 1;
      held = [bytes.subarray(partBytes)];
      heldBytes -= partBytes;
    }
  }
  if (heldBytes > 0 || number === 1) yield { number, bytes: Buffer.concat(held) };
}
