/**
 * Arrays in PostgreSQL's binary form, for statements that take thousands of rows at once: nothing is
 * escaped, printed or parsed on either side. The driver sends a Buffer as binary, whatever the type
 * of its parameter, so the cast in the statement must name the very type: `${int8Array(x)}::int8[]`.
 */
import { dayMs } from '../time.ts';

const oids = { bytea: 17, int8: 20, text: 25, date: 1082, timestamptz: 1184, uuid: 2950 };
const headerBytes = 20;
/** Each value is preceded by its length. */
const lengthBytes = 4;
const lengthOfNull = -1;
const uuidBytes = 16;
/** PostgreSQL counts from 1 January 2000. */
const epochMs = Date.UTC(2000, 0, 1);

/** `bytea[]` of values of one size, each written where it belongs. */
export function byteaArray(
  count: number,
  size: number,
  write: (index: number, bytes: Buffer, at: number) => void,
): Buffer {
  return fixedArray(oids.bytea, count, size, write);
}

/** `bytea[]` of values of the sizes that are named, each written where it belongs. */
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

/** `text[]`, of which elements may be null. */
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

/** `int8[]` of whole numbers that a double holds. */
export function int8Array(values: ArrayLike<number>): Buffer {
  return fixedArray(oids.int8, values.length, 8, (index, bytes, at) => {
    writeInt64(bytes, values[index] ?? 0, at);
  });
}

/** `timestamptz[]` of milliseconds of the Unix epoch. */
export function timestampArray(valuesMs: ArrayLike<number>): Buffer {
  return fixedArray(oids.timestamptz, valuesMs.length, 8, (index, bytes, at) => {
    writeInt64(bytes, ((valuesMs[index] ?? 0) - epochMs) * 1_000, at);
  });
}

/** `date[]` of moments that are the beginnings of UTC days, in milliseconds of the Unix epoch. */
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
    // The same one often follows itself, and copying is cheaper than reading.
    if (value === latest) bytes.copyWithin(at, latestAt, latestAt + uuidBytes);
    else bytes.write(value.replaceAll('-', ''), at, uuidBytes, 'hex');
    latest = value;
    latestAt = at;
  });
}

/** `uuid[]` of `count` values that `fill` writes in any order, each from `offsetOf` its index on. */
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
 * One dimension, a flag of nulls that PostgreSQL does not read (their lengths say it), the type of
 * the elements, how many; the first has number 1.
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
