/**
 * Arrays in PostgreSQL's binary format, for statements that take thousands of rows at once: neither
 * side escapes, prints or parses anything. The driver always sends a Buffer as binary, so the cast
 * in the statement must name the exact type: `${int8Array(x)}::int8[]`.
 */
import { dayMs } from '../values/time.ts';

const oids = { bytea: 17, int8: 20, text: 25, date: 1082, timestamptz: 1184, uuid: 2950 };
const headerBytes = 20;
/** Each value is preceded by its length. */
const lengthBytes = 4;
const lengthOfNull = -1;
const uuidBytes = 16;
/** PostgreSQL's epoch is 1 January 2000. */
const epochMs = Date.UTC(2000, 0, 1);

/** `bytea[]` of values of equal size; a callback writes each value in place. */
export function byteaArray(
  count: number,
  size: number,
  write: (index: number, bytes: Buffer, at: number) => void,
): Buffer {
  return fixedArray(oids.bytea, count, size, write);
}

/** `bytea[]` of values of the given sizes; a callback writes each value in place. */
export function sizedBytesArray(
  sizesBytes: readonly number[],
  write: (index: number, bytes: Buffer, at: number) => void,
): Buffer {
  const total = sizesBytes.reduce((sum, size) => sum + lengthBytes + size, headerBytes);
  const array = Buffer.allocUnsafe(total);
  writeHeader(array, oids.bytea, sizesBytes.length);
  let at = headerBytes;
  for (const [index, size] of sizesBytes.entries()) {
    array.writeInt32BE(size, at);
    write(index, array, at + lengthBytes);
    at += lengthBytes + size;
  }
  return array;
}

/** `bytea[]` of values of any size. */
export function bytesArray(values: readonly Uint8Array[]): Buffer {
  const size = values.reduce((sum, value) => sum + lengthBytes + value.length, headerBytes);
  const array = Buffer.allocUnsafe(size);
  writeHeader(array, oids.bytea, values.length);
  let at = headerBytes;
  for (const value of values) {
    array.writeInt32BE(value.length, at);
    array.set(value, at + lengthBytes);
    at += lengthBytes + value.length;
  }
  return array;
}

/** `text[]` with nullable elements. */
export function textArray(values: readonly (string | null)[]): Buffer {
  const size = values.reduce(
    (sum, value) => sum + lengthBytes + (value === null ? 0 : Buffer.byteLength(value)),
    headerBytes,
  );
  const array = Buffer.allocUnsafe(size);
  writeHeader(array, oids.text, values.length);
  let at = headerBytes;
  for (const value of values) {
    const written = value === null ? 0 : array.write(value, at + lengthBytes);
    array.writeInt32BE(value === null ? lengthOfNull : written, at);
    at += lengthBytes + written;
  }
  return array;
}

/** `int8[]` of integers that a double represents exactly. */
export function int8Array(values: ArrayLike<number>): Buffer {
  return fixedArray(oids.int8, values.length, 8, (index, bytes, at) => {
    writeInt64(bytes, values[index] ?? 0, at);
  });
}

/** `timestamptz[]` of milliseconds since the Unix epoch. */
export function timestampArray(valuesMs: ArrayLike<number>): Buffer {
  return fixedArray(oids.timestamptz, valuesMs.length, 8, (index, bytes, at) => {
    writeInt64(bytes, ((valuesMs[index] ?? 0) - epochMs) * 1_000, at);
  });
}

/** `date[]` of the starts of UTC days, in milliseconds since the Unix epoch. */
export function dateArray(valuesMs: ArrayLike<number>): Buffer {
  return fixedArray(oids.date, valuesMs.length, 4, (index, bytes, at) => {
    bytes.writeInt32BE(Math.round(((valuesMs[index] ?? 0) - epochMs) / dayMs), at);
  });
}

/** `uuid[]` of UUIDs in their text form with dashes. */
export function uuidArray(values: readonly string[]): Buffer {
  let latest: string | undefined;
  let latestAt = 0;
  return fixedArray(oids.uuid, values.length, uuidBytes, (index, bytes, at) => {
    const value = values[index] ?? '';
    // The same value often repeats, and copying is cheaper than parsing.
    if (value === latest) bytes.copyWithin(at, latestAt, latestAt + uuidBytes);
    else bytes.write(value.replaceAll('-', ''), at, uuidBytes, 'hex');
    latest = value;
    latestAt = at;
  });
}

/**
 * `uuid[]` of `count` values. `fill` may write them in any order, each at its `offsetOf(index)`.
 */
export function filledUuidArray(
  count: number,
  fill: (bytes: Buffer, offsetOf: (index: number) => number) => void,
): Buffer {
  const array = fixedArray(oids.uuid, count, uuidBytes, () => undefined);
  fill(array, (index) => headerBytes + index * (lengthBytes + uuidBytes) + lengthBytes);
  return array;
}

function fixedArray(
  oid: number,
  count: number,
  size: number,
  write: (index: number, bytes: Buffer, at: number) => void,
): Buffer {
  const array = Buffer.allocUnsafe(headerBytes + count * (lengthBytes + size));
  writeHeader(array, oid, count);
  let at = headerBytes;
  for (let index = 0; index < count; index += 1) {
    array.writeInt32BE(size, at);
    write(index, array, at + lengthBytes);
    at += lengthBytes + size;
  }
  return array;
}

/**
 * The header: one dimension, a flag for nulls (which PostgreSQL ignores, because lengths mark
 * them), the element type, the number of elements, and the lower bound 1.
 */
function writeHeader(array: Buffer, oid: number, count: number): void {
  array.writeInt32BE(1, 0);
  array.writeInt32BE(0, 4);
  array.writeInt32BE(oid, 8);
  array.writeInt32BE(count, 12);
  array.writeInt32BE(1, 16);
}

function writeInt64(bytes: Buffer, value: number, at: number): void {
  const upper = Math.floor(value / 2 ** 32);
  bytes.writeInt32BE(upper, at);
  bytes.writeUInt32BE(value - upper * 2 ** 32, at + 4);
}
