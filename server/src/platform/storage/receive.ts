/** Writes an untrusted stream of unknown length to one file, with constant memory. */
import { createHash } from 'node:crypto';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { untilAborted } from '../async/until-aborted.ts';
import { asStorageError, FileTooLargeError, StorageFullError } from './storage-errors.ts';

export type ReceiveOptions = {
  /** Maximum bytes to accept. One more byte throws `FileTooLargeError`. */
  readonly maxBytes: number;
  /** The size announced by the sender. A size that cannot fit is rejected before the first byte. */
  readonly declaredBytes?: number;
  /** Free bytes that must remain on the device; otherwise throws `StorageFullError`. Default: 0. */
  readonly minFreeBytes?: number;
  /** The maximum number of bytes that `onFirstBytes` gets. Default: 4,096. */
  readonly headBytes?: number;
  /**
   * Receives the first bytes (all of a shorter file, even an empty one) before anything is written.
   * Throwing rejects the file.
   */
  readonly onFirstBytes?: (head: Buffer) => void | Promise<void>;
  /**
   * Declares that nobody else uses the chunks, so that each can be freed once it has been copied.
   * Otherwise tens of megabytes would accumulate before a garbage collection.
   */
  readonly ownsChunks?: boolean;
  /**
   * Maximum time, in milliseconds, that bytes wait for a block to fill up, checked when more bytes
   * arrive. Without it, blocks are always filled.
   */
  readonly maxHoldMs?: number;
};

export type WrittenFile = {
  readonly path: string;
  readonly sizeBytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
};

/**
 * A synced file in the scratch area. Disposing of it removes the file, unless a put has moved it
 * away.
 */
export type ReceivedFile = WrittenFile & AsyncDisposable;

/**
 * Interval between two checks of the free space. Data is also synced at this interval, so that the
 * last sync of a large file is short and a single upload never fills the page cache.
 */
const checkpointBytes = 32 * 2 ** 20;

/**
 * Chunks are combined into one write: TLS chunks are 16 kB, and each write costs a turn of the
 * event loop.
 */
const writeBytes = 256 * 1024;

/**
 * Writes `source` to the new file `filePath` and syncs it. No chunk is requested during a write, so
 * a slow disk slows the sender. On any error or abort the file is removed; the source is not
 * destroyed, so that a server can still respond on its socket.
 */
export async function receiveFile(
  source: AsyncIterable<Uint8Array>,
  filePath: string,
  options: ReceiveOptions,
  freeBytes: () => Promise<number>,
  signal?: AbortSignal,
): Promise<WrittenFile> {
  signal?.throwIfAborted();
  const { maxBytes, declaredBytes = 0 } = options;
  if (declaredBytes > maxBytes) throw new FileTooLargeError(maxBytes);
  await requireFree(freeBytes, (options.minFreeBytes ?? 0) + declaredBytes);
  const handle = await open(filePath, 'wx', 0o600).catch((error: unknown) => {
    throw asStorageError(error);
  });
  try {
    const hash = createHash('sha256');
    let sizeBytes = 0;
    let checkpoint = checkpointBytes;
    for await (const block of blocksOf(checkedChunks(source, options, signal), options)) {
      hash.update(block);
      await writeAll(handle, block);
      sizeBytes += block.length;
      if (sizeBytes < checkpoint) continue;
      checkpoint = sizeBytes + checkpointBytes;
      await handle.datasync();
      await requireFree(freeBytes, options.minFreeBytes ?? 0);
    }
    await handle.sync();
    await handle.close();
    return { path: filePath, sizeBytes, sha256: hash.digest('hex') };
  } catch (error) {
    // Closing can repeat the error of the write. Only the first error is reported.
    await handle.close().catch(() => undefined);
    await rm(filePath, { force: true });
    throw asStorageError(error);
  }
}

/**
 * Passes on up to `maxBytes` of the source, holding back the first bytes until they are approved.
 */
export async function* checkedChunks(
  source: AsyncIterable<Uint8Array>,
  options: ReceiveOptions,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { maxBytes, headBytes = 4_096, onFirstBytes } = options;
  let held: Uint8Array[] | null = [];
  let sizeBytes = 0;
  for await (const chunk of untilAborted(source, signal)) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) throw new FileTooLargeError(maxBytes);
    if (held === null) {
      yield chunk;
      continue;
    }
    held.push(chunk);
    if (sizeBytes < headBytes) continue;
    await onFirstBytes?.(Buffer.concat(held, headBytes));
    yield* held;
    held = null;
  }
  if (held === null) return;
  await onFirstBytes?.(Buffer.concat(held));
  yield* held;
}

/**
 * Combines chunks into blocks of `writeBytes`. The last block may be shorter. A block is valid
 * until the next one is requested.
 */
export async function* blocksOf(
  chunks: AsyncIterable<Uint8Array>,
  { ownsChunks = false, maxHoldMs = Infinity }: Pick<ReceiveOptions, 'ownsChunks' | 'maxHoldMs'>,
): AsyncGenerator<Uint8Array> {
  const block = new Uint8Array(writeBytes);
  let filled = 0;
  let yieldedAt = performance.now();
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      const piece = chunk.subarray(at, at + writeBytes - filled);
      block.set(piece, filled);
      at += piece.length;
      filled += piece.length;
      const nowMs = performance.now();
      if (filled < writeBytes && nowMs - yieldedAt < maxHoldMs) continue;
      yield block.subarray(0, filled);
      filled = 0;
      yieldedAt = nowMs;
    }
    if (ownsChunks) freeMemory(chunk);
  }
  if (filled > 0) yield block.subarray(0, filled);
  freeMemory(block);
}

/**
 * Frees the memory of a chunk that occupies its whole buffer. Other chunks share theirs, as in
 * Node's pool.
 */
function freeMemory({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

async function requireFree(freeBytes: () => Promise<number>, neededBytes: number): Promise<void> {
  if (neededBytes > 0 && (await freeBytes()) < neededBytes) throw new StorageFullError();
}

/** A write may be partial, for example the last one before the disk is full. */
export async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  let offset = 0;
  while (offset < chunk.length) {
    offset += (await handle.write(chunk, offset, chunk.length - offset)).bytesWritten;
  }
}
