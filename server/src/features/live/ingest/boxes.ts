/** Writes the boxes of MP4 (ISO/IEC 14496-12). */
import { uint32 } from '../rtmp/messages.ts';

export { uint32 };

export function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value & 0xffff);
  return bytes;
}

export function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

export function zeros(count: number): Buffer {
  return Buffer.alloc(count);
}

export function box(name: string, ...parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([uint32(length), Buffer.from(name, 'latin1'), ...parts], length);
}

/** A box with a version and flags. */
export function fullBox(
  name: string,
  { version = 0, flags = 0 }: { version?: number; flags?: number },
  ...parts: readonly Buffer[]
): Buffer {
  return box(name, uint32((version << 24) | flags), ...parts);
}
