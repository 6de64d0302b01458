/** Reads one file of a disk storage: as a stream, or in one call. */
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { resolveRange } from './ranges.ts';
import type { ByteRange, StoredFile, StoredRead } from './storage.ts';

/** The description of a file for readers. */
export function describe(key: string, stats: BigIntStats): StoredFile {
  // A replaced file has a different inode, so its tag differs even within one tick of the clock.
  const tag = [stats.ino, stats.size, stats.mtimeNs].map((part) => part.toString(36)).join('-');
  return {
    key,
    sizeBytes: Number(stats.size),
    modifiedAt: new Date(Number(stats.mtimeNs / 1_000_000n)),
    etag: `"${tag}"`,
  };
}

/** Opens the part of a file that a range selects; null if it is not a file. */
export async function readFrom(
  handle: FileHandle,
  key: string,
  range: ByteRange | undefined,
  signal: AbortSignal | undefined,
): Promise<StoredRead | null> {
  const stats = await handle.stat({ bigint: true });
  if (!stats.isFile()) return null;
  const file = describe(key, stats);
  const { offsetBytes, lengthBytes } = resolveRange(range, file.sizeBytes);
  if (lengthBytes === 0) {
    await handle.close();
    return { ...file, offsetBytes, lengthBytes, stream: Readable.from([]) };
  }
  let stream: Readable | null = null;
  const openStream = (): Readable =>
    handle.createReadStream({
      start: offsetBytes,
      end: offsetBytes + lengthBytes - 1,
      ...(signal === undefined ? {} : { signal }),
    });
  return {
    ...file,
    offsetBytes,
    lengthBytes,
    get stream() {
      stream ??= openStream();
      return stream;
    },
    readInto: (buffer) => readAll(handle, buffer, { offsetBytes, lengthBytes }),
  };
}

async function readAll(
  handle: FileHandle,
  buffer: Buffer,
  { offsetBytes, lengthBytes }: { offsetBytes: number; lengthBytes: number },
): Promise<void> {
  try {
    for (let filled = 0; filled < lengthBytes;) {
      const wanted = lengthBytes - filled;
      const { bytesRead } = await handle.read(buffer, filled, wanted, offsetBytes + filled);
      if (bytesRead === 0) throw new Error('a file became shorter while it was being read');
      filled += bytesRead;
    }
  } finally {
    await handle.close();
  }
}
