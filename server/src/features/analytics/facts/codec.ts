/**
 * Binary format of facts: columns stored one after another, each in the narrowest integer type that
 * fits its values, compressed with zstd. Values are in native byte order, which is little-endian
 * wherever Node runs.
 */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Hash } from '../statistics/viewer-key.ts';
import { columnIndex, watchedShareUnits } from '../projections/engagement/contribution.ts';
import {
  countOffset,
  factColumnCount,
  factColumnNames,
  narrow,
  type ColumnValues,
  type PackedContentId,
  type FactColumnName,
  type Facts,
} from './facts.ts';

const version = 2;
/** Columns added by each version. They are read as 0 from chunks of earlier versions. */
const addedColumns: ReadonlyMap<number, readonly FactColumnName[]> = new Map([
  [
    2,
    [
      'feedId',
      'sharePlatform',
      'rendition',
      'codec',
      'errorCode',
      'errorMessage',
      'position',
      'unlikes',
      'follow_on_plays',
    ],
  ],
]);
/** Version 1 has watched shares in thousandths. */
const versionWithThousandths = 1;
const headerBytes = 16;
const contentBytes = 16;
const contentUnits = contentBytes / 2;
const labelBytes = 8;
/**
 * Smaller chunks are stored uncompressed, because decompressing would make reading several times
 * slower.
 */
const minCompressedBytes = 64 * 1024;
const compression = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/**
 * Most facts fit in one buffer of this size. By default, zlib would fill many 16 KiB buffers and
 * concatenate them.
 */
const decompression = { chunkSize: 1024 * 1024 };

export function encodeFacts({ rows, contents, labels, columns }: Facts): Buffer {
  const dictionaryBytes = contents.length * contentBytes + labels.length * labelBytes;
  const widthsAt = headerBytes + dictionaryBytes;
  const dataAt = aligned(widthsAt + factColumnCount);
  const size = columns.reduce((sum, column) => sum + aligned(column?.byteLength ?? 0), dataAt);
  const bytes = Buffer.alloc(size);
  bytes.writeUInt32LE(version, 0);
  bytes.writeUInt32LE(rows, 4);
  bytes.writeUInt32LE(contents.length, 8);
  bytes.writeUInt32LE(labels.length, 12);
  let at = headerBytes;
  for (const key of contents) {
    bytes.write(key, at, contentBytes, 'utf16le');
    at += contentBytes;
  }
  for (const label of labels) {
    bytes.write(label, at, labelBytes, 'latin1');
    at += labelBytes;
  }
  at = dataAt;
  for (const [index, column] of columns.entries()) {
    if (column === null) continue;
    bytes[widthsAt + index] = column.BYTES_PER_ELEMENT;
    bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), at);
    at += aligned(column.byteLength);
  }
  return size < minCompressedBytes ? bytes : zstdCompressSync(bytes, compression);
}

/** @throws Error if the bytes are not a facts chunk */
export function decodeFacts(chunk: Buffer): Facts {
  const bytes = alignedBytes(isPlain(chunk) ? chunk : zstdDecompressSync(chunk, decompression));
  if (!isPlain(bytes)) throw new Error('The bytes are not encoded facts.');
  const rows = bytes.readUInt32LE(4);
  const [contentCount, labelCount] = [bytes.readUInt32LE(8), bytes.readUInt32LE(12)];
  const labelsAt = headerBytes + contentCount * contentBytes;
  const widthsAt = labelsAt + labelCount * labelBytes;
  const storedVersion = bytes.readUInt32LE(0);
  const columnCount = factColumnCount - columnsSince(storedVersion).size;
  const stored: (ColumnValues | null)[] = [];
  let at = aligned(widthsAt + columnCount);
  for (let index = 0; index < columnCount; index += 1) {
    const width = bytes[widthsAt + index] ?? 0;
    stored.push(viewOf(bytes, at, width, rows));
    at += aligned(width * rows);
  }
  const columns = storedVersion === version ? stored : fromEarlier(stored, storedVersion);
  let contents: PackedContentId[] | null = null;
  return {
    rows,
    // Decoded lazily, because few reports need them.
    get contents() {
      return (contents ??= readContents(bytes.toString('utf16le', headerBytes, labelsAt)));
    },
    labels: Array.from({ length: labelCount }, (_, index) =>
      index === 0 ? '' : readLabel(bytes, labelsAt + index * labelBytes),
    ),
    columns,
  };
}

function isPlain(bytes: Buffer): boolean {
  const told = bytes.readUInt32LE(0);
  return told >= 1 && told <= version;
}

const watchedShareColumn = countOffset + columnIndex.watched_share;
const unitsInThousandth = watchedShareUnits / 1_000;

/** The columns that a chunk of this version lacks. */
function columnsSince(stored: number): ReadonlySet<FactColumnName> {
  const later = [...addedColumns].filter(([added]) => added > stored);
  return new Set(later.flatMap(([, names]) => names));
}

/** Converts columns of an earlier version to the current order and units. */
function fromEarlier(
  stored: readonly (ColumnValues | null)[],
  storedVersion: number,
): (ColumnValues | null)[] {
  const missing = columnsSince(storedVersion);
  const found = stored.values();
  const columns = factColumnNames.map((name) =>
    missing.has(name) ? null : (found.next().value ?? null),
  );
  const shares = columns[watchedShareColumn] ?? null;
  if (storedVersion > versionWithThousandths || shares === null) return columns;
  return columns.with(
    watchedShareColumn,
    narrow(Float64Array.from(shares, (share) => share * unitsInThousandth)),
  );
}

function viewOf(bytes: Buffer, at: number, width: number, rows: number): ColumnValues | null {
  const offset = bytes.byteOffset + at;
  switch (width) {
    case 0:
      return null;
    case 1:
      return new Uint8Array(bytes.buffer, offset, rows);
    case 2:
      return new Uint16Array(bytes.buffer, offset, rows);
    case 4:
      return new Uint32Array(bytes.buffer, offset, rows);
    default:
      return new Float64Array(bytes.buffer, offset, rows);
  }
}

/** Index 0 means no item. */
function readContents(units: string): PackedContentId[] {
  const keys = [''];
  for (let at = contentUnits; at < units.length; at += contentUnits) {
    keys.push(units.slice(at, at + contentUnits));
  }
  return keys;
}

function readLabel(bytes: Buffer, at: number): Hash {
  return bytes.toString('latin1', at, at + labelBytes);
}

function aligned(size: number): number {
  return Math.ceil(size / 8) * 8;
}

function alignedBytes(bytes: Buffer): Buffer {
  if (bytes.byteOffset % 8 === 0) return bytes;
  const copy = Buffer.from(new ArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
