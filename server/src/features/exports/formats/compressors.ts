/**
 * Compresses text in independent chunks on another thread. After a crash, a new process keeps the
 * chunks compressed so far and continues the file.
 */
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, zstdCompress, zstdCompressSync } from 'node:zlib';
import type { Compression } from '../tables.ts';

export type Compressor = {
  /** Chunks may be compressed concurrently; calls are in file order. */
  compress(chunk: Buffer): Promise<Buffer>;
  /** The bytes that end the file. */
  end(): Buffer;
  /** The state a compressor in another process needs to continue the file. */
  save(): unknown;
};

export function createCompressor(compression: Compression, saved: unknown): Compressor {
  switch (compression) {
    case 'none':
      return { compress: async (chunk) => chunk, end: () => Buffer.alloc(0), save: () => null };
    case 'gzip':
      return new Gzip(saved as GzipState | null);
    case 'zstd':
      return new Zstd(saved as ZstdState | null);
    default:
      return compression satisfies never;
  }
}

type GzipState = { readonly crc: number; readonly sizeBytes: number };

const deflate = promisify(deflateRaw);
/** RFC 1952, section 2.3: deflate, no flags, no time, an unknown system. */
const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
/** RFC 1951, section 3.2.6: a last block with fixed codes and nothing but its end. */
const lastBlock = Buffer.from([3, 0]);

/**
 * Writes a single gzip member, because some readers stop after the first of several. A full flush
 * ends each chunk on a byte boundary and resets the dictionary, so chunks can be concatenated.
 */
class Gzip implements Compressor {
  #crc: number;
  #sizeBytes: number;
  #hasHeader: boolean;

  constructor(saved: GzipState | null) {
    this.#crc = saved?.crc ?? 0;
    this.#sizeBytes = saved?.sizeBytes ?? 0;
    this.#hasHeader = saved !== null;
  }

  async compress(chunk: Buffer): Promise<Buffer> {
    const header = this.#takeHeader();
    this.#crc = crc32(chunk, this.#crc);
    this.#sizeBytes += chunk.length;
    const body = await deflate(chunk, { finishFlush: constants.Z_FULL_FLUSH });
    return Buffer.concat([...header, body]);
  }

  end(): Buffer {
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(this.#crc >>> 0, 0);
    trailer.writeUInt32LE(this.#sizeBytes % 2 ** 32, 4);
    return Buffer.concat([...this.#takeHeader(), lastBlock, trailer]);
  }

  save(): GzipState | null {
    return this.#hasHeader ? { crc: this.#crc, sizeBytes: this.#sizeBytes } : null;
  }

  #takeHeader(): Buffer[] {
    if (this.#hasHeader) return [];
    this.#hasHeader = true;
    return [gzipHeader];
  }
}

type ZstdState = { readonly hasFrames: true };

const zstd = promisify(zstdCompress);
const zstdOptions = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };
/** A frame per chunk; RFC 8878, section 3.1, allows several frames in a file. */
class Zstd implements Compressor {
  #hasFrames: boolean;

  constructor(saved: ZstdState | null) {
    this.#hasFrames = saved !== null;
  }

  compress(chunk: Buffer): Promise<Buffer> {
    this.#hasFrames = true;
    return zstd(chunk, zstdOptions);
  }

  end(): Buffer {
    return this.#hasFrames ? Buffer.alloc(0) : zstdCompressSync(Buffer.alloc(0));
  }

  save(): ZstdState | null {
    return this.#hasFrames ? { hasFrames: true } : null;
  }
}
