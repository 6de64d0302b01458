/**
 * Bytes that are stored in a bucket while they arrive, although its objects can't grow:
 *
 *   written (to a local file) → flushed (one object per flush) → joined (one object, from 6 MiB on)
 *
 * 1. The bytes of a completed flush are in the bucket; the local file may be lost at any time.
 * 2. All objects except those of the last block are large enough for a copy inside S3, so a join
 *    moves no bytes through the service. A writer that continues takes small objects at the end
 *    into its block.
 */
import { randomUUID } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { joined } from '../joined.ts';
import { writeAll } from '../receive.ts';
import type { ScratchFolder } from '../scratch.ts';
import { asStorageError } from '../storage-errors.ts';
import type { Piece, PieceWriter, Storage } from '../storage.ts';
import { minPartBytes, type Puts } from './s3-put.ts';

/** A block is sent in one PutObject, so it is smaller than the threshold for multipart uploads. */
const blockBytes = 6 * 2 ** 20;

type Parts = { readonly storage: Storage; readonly puts: Puts };
type Local = { readonly folder: ScratchFolder; readonly file: string; readonly handle: FileHandle };

export class S3Pieces implements PieceWriter {
  readonly #prefix: string;
  readonly #parts: Parts;
  /** Whole blocks, then the pieces of the block that is in the local file. */
  #done: readonly Piece[];
  #tail: Piece[];
  #local: Local | null = null;
  #localBytes = 0;
  #storedBytes: number;

  constructor(prefix: string, held: readonly Piece[], parts: Parts) {
    this.#prefix = prefix;
    this.#parts = parts;
    const first = tailStart(held);
    this.#done = held.slice(0, first);
    this.#tail = held.slice(first);
    this.#storedBytes = this.#tail.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      this.#local ??= await this.#open();
      await writeAll(this.#local.handle, bytes);
      this.#localBytes += bytes.length;
    } catch (error) {
      throw asStorageError(error);
    }
  }

  async flush(isLast: boolean): Promise<readonly Piece[]> {
    if (this.#local !== null && this.#localBytes > this.#storedBytes) {
      const isWhole = this.#localBytes >= blockBytes || (isLast && this.#tail.length > 0);
      await (isWhole ? this.#storeBlock(this.#local) : this.#storeRest(this.#local));
    }
    return [...this.#done, ...this.#tail];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#local?.handle.close();
    await this.#local?.folder[Symbol.asyncDispose]();
  }

  /** The local file, filled with the bytes of the block that are already in the bucket. */
  async #open(): Promise<Local> {
    const { storage } = this.#parts;
    const folder = await storage.scratch.createFolder('pieces');
    try {
      const file = path.join(folder.path, 'block');
      const handle = await open(file, 'ax+', 0o600);
      for await (const chunk of joined(storage, this.#tail)) await writeAll(handle, chunk);
      this.#localBytes = this.#storedBytes;
      return { folder, file, handle };
    } catch (error) {
      await folder[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #storeBlock({ file, handle }: Local): Promise<void> {
    const key = this.#newKey();
    await this.#parts.puts.putFile(key, { path: file });
    this.#done = [...this.#done, { key, sizeBytes: this.#localBytes }];
    this.#tail = [];
    await handle.truncate(0);
    this.#localBytes = 0;
    this.#storedBytes = 0;
  }

  async #storeRest({ handle }: Local): Promise<void> {
    const sizeBytes = this.#localBytes - this.#storedBytes;
    const bytes = Buffer.allocUnsafe(sizeBytes);
    const { bytesRead } = await handle.read(bytes, 0, sizeBytes, this.#storedBytes);
    if (bytesRead < sizeBytes) throw new Error('a file became shorter while it was being stored');
    const key = this.#newKey();
    await this.#parts.storage.put(key, toSource(bytes));
    this.#tail = [...this.#tail, { key, sizeBytes }];
    this.#storedBytes = this.#localBytes;
  }

  #newKey(): string {
    return `${this.#prefix}/${randomUUID()}`;
  }
}

/**
 * The index at which the small pieces at the end begin; the number of pieces if they exceed a
 * block.
 */
function tailStart(pieces: readonly Piece[]): number {
  let first = pieces.length;
  let bytes = 0;
  for (; first > 0; first -= 1) {
    const { sizeBytes } = pieces[first - 1] as Piece;
    if (sizeBytes >= minPartBytes) return first;
    bytes += sizeBytes;
    if (bytes > blockBytes) return pieces.length;
  }
  return first;
}

async function* toSource(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
