/**
 * Receives the bytes of one PATCH.
 *
 * 1. The offset is the total size of the pieces in the upload's row. Pieces are recorded while
 *    bytes arrive, and stored before they are recorded: an acknowledged offset survives a crash,
 *    any process can continue from it, and a crash loses less than a megabyte.
 * 2. Only one request writes an upload at a time: the newest one at the right offset. The previous
 *    writer records nothing more and gets a 409.
 * 3. A transfer that breaks, stalls or meets a full disk keeps what arrived before, unless it has a
 *    checksum, which can only be verified over the whole part.
 */
import { createHash, type Hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { ApiError } from '../../platform/http/errors.ts';
import { randomName } from '../../platform/values/ids.ts';
import { blocksOf, checkedChunks } from '../../platform/storage/receive.ts';
import { StorageFullError } from '../../platform/storage/storage-errors.ts';
import type { Piece, PieceWriter } from '../../platform/storage/storage.ts';
import { untilAborted } from '../../platform/async/until-aborted.ts';
import type { ItemRow } from '../content/content.ts';
import { SNIFF_BYTES } from '../media/media.ts';
import { uploadErrors } from './errors.ts';
import { claimOffset, namePieces } from './queries.ts';
import { requireMedia, translateReceiving } from './receive-media.ts';
import {
  finishUpload,
  offsetOf,
  partsPrefix,
  requireResumable,
  sizeOf,
  uploadTooLarge,
  type Resumable,
  type ResumableParts,
} from './resumable.ts';

export type Checksum = { algorithm: 'sha1' | 'sha256' | 'md5'; digest: Buffer };

type Part = {
  offset: number;
  /** From the request's headers, or null if not declared. */
  declaredBytes: number | null;
  checksum: Checksum | null;
  source: Readable;
  signal: AbortSignal;
};

/** Three blocks of `receive.ts`: less than a megabyte, including Node's buffers per connection. */
const namedEveryBytes = 3 * 256 * 1024;
/** On a slow connection, pieces are recorded at this interval. */
const namedEveryMs = 5_000;
/** Bytes between two checks of the free disk space. */
const checkedEveryBytes = 32 * 2 ** 20;
/** Enough bytes to tell media from other files. */
const sniffableBytes = 4_096;

/**
 * Receives the bytes of one PATCH. Returns the new offset, and the item if it is complete.
 * @throws {ApiError} CONFLICT (wrong offset, or overtaken), CHECKSUM_MISMATCH, INVALID_MEDIA,
 *   PAYLOAD_TOO_LARGE, INSUFFICIENT_STORAGE, REQUEST_TIMEOUT
 */
export async function receivePart(
  parts: ResumableParts,
  token: string,
  part: Part,
): Promise<{ offset: number; row: ItemRow | null }> {
  const session = await requireResumable(parts.db, token);
  if (part.offset !== offsetOf(session)) throw wrongOffset(offsetOf(session));
  const missingBytes = session.lengthBytes - part.offset;
  if ((part.declaredBytes ?? 0) > missingBytes) throw uploadTooLarge(parts.limits);
  const writer = randomName(9);
  const held = await claimOffset(parts.db, session, part.offset, writer);
  if (held === null) throw wrongOffset(part.offset);
  const names = new Names(parts, session, writer, held);
  // It is not known yet whether a part of an upload will be the first one.
  const isBeginning = part.offset === 0 && session.wholeId === null;
  const arrival = new Arrival(part, { missingBytes, isBeginning });
  try {
    await using pieces = parts.storage.openPieces(`${partsPrefix}/${session.sessionId}`, held);
    await store(parts, arrival, pieces, names);
  } catch (error) {
    throw error instanceof StorageFullError
      ? noRoom(error)
      : translateReceiving(error, parts.limits);
  }
  // The client stalled, but what arrived counts.
  part.signal.throwIfAborted();
  const { offset } = names;
  const isWhole = session.wholeId === null && offset === session.lengthBytes;
  return { offset, row: isWhole ? await finishUpload(parts, token) : null };
}

async function store(
  { storage, limits }: ResumableParts,
  arrival: Arrival,
  pieces: PieceWriter,
  names: Names,
): Promise<void> {
  let unnamedBytes = 0;
  let uncheckedBytes = checkedEveryBytes;
  let namedAt = performance.now();
  try {
    for await (const block of arrival.blocks()) {
      if (uncheckedBytes >= checkedEveryBytes) {
        await storage.scratch.requireFree(limits.minFreeBytes);
        uncheckedBytes = 0;
      }
      await pieces.write(block);
      uncheckedBytes += block.length;
      unnamedBytes += block.length;
      const isDue = performance.now() - namedAt >= namedEveryMs;
      if (arrival.hasChecksum || (unnamedBytes < namedEveryBytes && !isDue)) continue;
      await names.name(await pieces.flush(arrival.isWhole));
      unnamedBytes = 0;
      namedAt = performance.now();
    }
    arrival.verify();
  } catch (error) {
    // The disk is full, but what was written before counts. The first error is the one to report.
    if (!arrival.hasChecksum && unnamedBytes > 0) {
      await pieces
        .flush(false)
        .then((stored) => names.name(stored))
        .catch(() => undefined);
    }
    throw error;
  }
  await names.name(await pieces.flush(arrival.isWhole));
}

/** The bytes of a request until they end or the transfer breaks. */
class Arrival {
  readonly #part: Part;
  readonly #missingBytes: number;
  readonly #isBeginning: boolean;
  readonly #hash: Hash | null;
  #bytes = 0;

  constructor(part: Part, place: { missingBytes: number; isBeginning: boolean }) {
    this.#part = part;
    this.#missingBytes = place.missingBytes;
    this.#isBeginning = place.isBeginning;
    this.#hash = part.checksum === null ? null : createHash(part.checksum.algorithm);
  }

  get hasChecksum(): boolean {
    return this.#hash !== null;
  }

  /** Whether the blocks so far complete the upload. */
  get isWhole(): boolean {
    return this.#bytes === this.#missingBytes;
  }

  /**
   * @throws {ApiError} INVALID_MEDIA
   * @throws {FileTooLargeError}
   */
  async *blocks(): AsyncGenerator<Uint8Array> {
    const onFirstBytes = (head: Buffer): void => {
      if (this.#isBeginning && head.length >= sniffableBytes) requireMedia(head);
    };
    const options = { maxBytes: this.#missingBytes, headBytes: SNIFF_BYTES, onFirstBytes };
    const chunks = checkedChunks(this.#untilBroken(), options);
    for await (const block of blocksOf(chunks, { ownsChunks: true, maxHoldMs: namedEveryMs })) {
      this.#bytes += block.length;
      yield block;
    }
  }

  /** @throws {ApiError} CHECKSUM_MISMATCH */
  verify(): void {
    const { checksum } = this.#part;
    if (checksum === null || this.#hash?.digest().equals(checksum.digest) === true) return;
    throw new ApiError(uploadErrors.CHECKSUM_MISMATCH);
  }

  async *#untilBroken(): AsyncGenerator<Buffer> {
    const { source, signal, checksum } = this.#part;
    try {
      for await (const chunk of untilAborted(source as AsyncIterable<Buffer>, signal)) {
        this.#hash?.update(chunk);
        yield chunk;
      }
    } catch (error) {
      // The client disconnected or stalled: what arrived is kept, see rule 3.
      if (checksum !== null) throw error;
    }
  }
}

/** The pieces in an upload's row, as far as this writer may change them. */
class Names {
  readonly #parts: ResumableParts;
  readonly #session: Resumable;
  readonly #writer: string;
  #named: readonly Piece[];

  constructor(parts: ResumableParts, session: Resumable, writer: string, held: readonly Piece[]) {
    this.#parts = parts;
    this.#session = session;
    this.#writer = writer;
    this.#named = held;
  }

  get offset(): number {
    return sizeOf(this.#named);
  }

  /**
   * Records stored pieces and removes the objects that they replace.
   * @throws {ApiError} CONFLICT
   */
  async name(stored: readonly Piece[]): Promise<void> {
    if (sizeOf(stored) === this.offset) return;
    const { db, storage } = this.#parts;
    if (!(await namePieces(db, this.#session, this.#writer, stored))) {
      for (const key of keysOnlyIn(stored, this.#named)) await storage.remove(key);
      throw wrongOffset(this.offset);
    }
    const replaced = keysOnlyIn(this.#named, stored);
    this.#named = stored;
    for (const key of replaced) await storage.remove(key);
  }
}

function keysOnlyIn(some: readonly Piece[], others: readonly Piece[]): string[] {
  const kept = new Set(others.map(({ key }) => key));
  return some.map(({ key }) => key).filter((key) => !kept.has(key));
}

function noRoom(cause: unknown): ApiError {
  return new ApiError('INSUFFICIENT_STORAGE', {
    message: 'The server has no space for these bytes. Bytes before the current offset were kept.',
    cause,
  });
}

function wrongOffset(offset: number): ApiError {
  return new ApiError('CONFLICT', {
    message: `The upload is not at this offset; it was at ${offset}. Use HEAD to get the current offset.`,
  });
}
