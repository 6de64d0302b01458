/**
 * Binary format of chunks, compressed with zstd: a header, the dictionaries as JSON, the ids of
 * items, and the columns. Values are in native byte order, which is little-endian wherever Node
 * runs.
 */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { emptyColumns, type Chunk, type Columns, type FullChunk } from './chunk.ts';
import type { Properties } from './properties.ts';

const version = 1;
const headBytes = 16;
const itemBytes = 16;
const compression = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const decompression = { chunkSize: 1024 * 1024 };

export function encodeChunk({ rows, kinds, versions, items, columns }: Chunk): Buffer {
  const names = Buffer.from(JSON.stringify({ kinds, versions }));
  const itemsAt = aligned(headBytes + names.length);
  let at = itemsAt + items.length * itemBytes;
  const all = Object.values(columns);
  const bytes = Buffer.alloc(all.reduce((sum, column) => sum + aligned(column.byteLength), at));
  bytes.writeUInt32LE(version, 0);
  bytes.writeUInt32LE(rows, 4);
  bytes.writeUInt32LE(names.length, 8);
  bytes.writeUInt32LE(items.length, 12);
  names.copy(bytes, headBytes);
  bytes.write(items.join(''), itemsAt, 'hex');
  for (const column of all) {
    bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), at);
    at += aligned(column.byteLength);
  }
  return zstdCompressSync(bytes, compression);
}

/** @throws Error if the bytes are not a chunk */
export function decodeChunk(stored: Buffer): Chunk {
  const bytes = alignedBytes(zstdDecompressSync(stored, decompression));
  if (bytes.readUInt32LE(0) !== version)
    throw new Error('The bytes are not an encoded journey chunk.');
  const [rows, nameBytes, itemCount] = [4, 8, 12].map((at) => bytes.readUInt32LE(at)) as [
    number,
    number,
    number,
  ];
  const { kinds, versions } = JSON.parse(
    bytes.toString('utf8', headBytes, headBytes + nameBytes),
  ) as Pick<Chunk, 'kinds' | 'versions'>;
  const itemsAt = aligned(headBytes + nameBytes);
  let at = bytes.byteOffset + itemsAt + itemCount * itemBytes;
  const columns: Record<string, unknown> = {};
  for (const [name, shape] of Object.entries(emptyColumns(0))) {
    const Column = shape.constructor as new (
      buffer: ArrayBufferLike,
      at: number,
      rows: number,
    ) => unknown;
    columns[name] = new Column(bytes.buffer, at, rows);
    at += aligned(shape.BYTES_PER_ELEMENT * rows);
  }
  let items: string[] | null = null;
  return {
    rows,
    kinds,
    versions,
    // Decoded lazily, because most questions do not need them.
    get items() {
      return (items ??= readItems(bytes.toString('hex', itemsAt, itemsAt + itemCount * itemBytes)));
    },
    columns: columns as Columns,
  };
}

/**
 * One line with the names, then one line per property, so that a question parses only what it
 * needs.
 */
export function encodeProperties(properties: Properties): Buffer | null {
  if (properties.size === 0) return null;
  const columns = [...properties].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const lines = [columns.map(([name]) => name), ...columns.map(([, column]) => column)];
  const text = lines.map((line) => JSON.stringify(line)).join('\n');
  return zstdCompressSync(Buffer.from(text), compression);
}

/** @param wanted the names to decode; all if omitted */
export function decodeProperties(stored: Buffer | null, wanted?: ReadonlySet<string>): Properties {
  const properties: Properties = new Map();
  if (stored === null) return properties;
  const [first = '[]', ...lines] = zstdDecompressSync(stored, decompression)
    .toString('utf8')
    .split('\n');
  for (const [index, name] of (JSON.parse(first) as string[]).entries()) {
    if (wanted !== undefined && !wanted.has(name)) continue;
    properties.set(
      name,
      JSON.parse(lines[index] ?? '') as { rows: number[]; values: (string | number | boolean)[] },
    );
  }
  return properties;
}

export function decodeFullChunk(stored: { body: Buffer; properties: Buffer | null }): FullChunk {
  const chunk = decodeChunk(stored.body);
  return {
    rows: chunk.rows,
    kinds: chunk.kinds,
    versions: chunk.versions,
    items: chunk.items,
    columns: chunk.columns,
    properties: decodeProperties(stored.properties),
  };
}

function readItems(hex: string): string[] {
  const digits = itemBytes * 2;
  return Array.from({ length: hex.length / digits }, (_, index) =>
    hex.slice(index * digits, (index + 1) * digits),
  );
}

/** A column of eight-byte numbers must be aligned to eight bytes. */
function alignedBytes(bytes: Buffer): Buffer {
  if (bytes.byteOffset % 8 === 0) return bytes;
  const copy = Buffer.from(new ArrayBuffer(bytes.length));
  bytes.copy(copy);
  return copy;
}

function aligned(size: number): number {
  return Math.ceil(size / 8) * 8;
}
