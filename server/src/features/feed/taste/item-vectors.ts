/**
 * The item vectors of one organization, in memory as stored: 32 bytes per item, sorted by serial
 * number. 10,000 items take 0.3 MB, 100,000 take 3 MB and a million 32 MB.
 */
import { tasteDimensions, type Factors } from './factorize.ts';

/** Serial number (6 bytes), bias (float), scale of the vector (float), support (2), vector (16). */
export const recordBytes = 6 + 4 + 4 + 2 + tasteDimensions;
export const recordsOfPart = 4_096;
const biasAt = 6;
const scaleAt = 10;
const supportAt = 14;
const vectorAt = 16;

/** Results of a fit that concern all items. */
export type TasteHead = { readonly mean: number; readonly spread: number };

export class ItemVectors {
  readonly head: TasteHead;
  readonly #bytes: Buffer;
  readonly size: number;

  /** @param bytes records in the order of serial numbers */
  constructor(head: TasteHead, bytes: Buffer) {
    this.head = head;
    this.#bytes = bytes;
    this.size = Math.floor(bytes.length / recordBytes);
  }

  /** The index of an item; −1 if it has no record. */
  placeOf(serialNumber: number): number {
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.serialNumberAt(middle) < serialNumber) low = middle + 1;
      else high = middle;
    }
    return low < this.size && this.serialNumberAt(low) === serialNumber ? low : -1;
  }

  serialNumberAt(place: number): number {
    return this.#bytes.readUIntBE(place * recordBytes, 6);
  }

  /** Popularity of this item relative to the average item. */
  biasAt(place: number): number {
    return this.#bytes.readFloatBE(place * recordBytes + biasAt);
  }

  /** Writes the vector of an item to `into`, starting at `offset`. */
  readInto(place: number, into: Float32Array, offset = 0): void {
    const at = place * recordBytes;
    const scale = this.#bytes.readFloatBE(at + scaleAt);
    for (let index = 0; index < tasteDimensions; index += 1) {
      into[offset + index] = this.#bytes.readInt8(at + vectorAt + index) * scale;
    }
  }

  productWith(place: number, other: Float32Array): number {
    const at = place * recordBytes + vectorAt;
    const bytes = this.#bytes;
    let sum = 0;
    for (let index = 0; index < tasteDimensions; index += 1) {
      sum += (((bytes[at + index] ?? 0) << 24) >> 24) * (other[index] ?? 0);
    }
    return sum * bytes.readFloatBE(place * recordBytes + scaleAt);
  }
}

/** The records of all items encountered by enough viewers, split into parts. */
export function encodeParts(
  factors: Factors,
  serialNumbers: Float64Array,
  support: (item: number) => number,
): Buffer[] {
  const parts: Buffer[] = [];
  for (let from = 0; from < serialNumbers.length; from += recordsOfPart) {
    const count = Math.min(recordsOfPart, serialNumbers.length - from);
    const bytes = Buffer.alloc(count * recordBytes);
    for (let index = 0; index < count; index += 1) {
      const item = from + index;
      const at = index * recordBytes;
      const vector = factors.vectors.subarray(item * tasteDimensions, (item + 1) * tasteDimensions);
      const longest = vector.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
      const scale = longest / 127;
      bytes.writeUIntBE(serialNumbers[item] ?? 0, at, 6);
      bytes.writeFloatBE(factors.biases[item] ?? 0, at + biasAt);
      bytes.writeFloatBE(scale, at + scaleAt);
      bytes.writeUInt16BE(Math.min(65_535, support(item)), at + supportAt);
      for (const [place, one] of vector.entries()) {
        bytes.writeInt8(scale > 0 ? Math.round(one / scale) : 0, at + vectorAt + place);
      }
    }
    parts.push(bytes);
  }
  return parts;
}

/** The records of a part without some items, or null if it contains none of them. */
export function withoutItems(part: Buffer, serialNumbers: ReadonlySet<number>): Buffer | null {
  const kept: Buffer[] = [];
  for (let at = 0; at < part.length; at += recordBytes) {
    const isGone = serialNumbers.has(part.readUIntBE(at, 6));
    if (!isGone) kept.push(part.subarray(at, at + recordBytes));
  }
  return kept.length * recordBytes === part.length ? null : Buffer.concat(kept);
}
