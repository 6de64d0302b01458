/** The packets of SRT (draft-sharabayko-srt-01, section 3) that a receiver reads and writes. */

export const headerBytes = 16;
/** Sequence numbers are 31 bits wide. */
const sequenceMask = 0x7fff_ffff;
const controlBit = 0x8000_0000;

export const controlType = {
  handshake: 0,
  keepAlive: 1,
  acknowledgement: 2,
  lossReport: 3,
  shutdown: 5,
  acknowledged: 6,
  dropRequest: 7,
} as const;

export type SrtPacket =
  | { readonly type: 'data'; readonly target: number; readonly data: SrtData }
  | {
      readonly type: 'control';
      readonly target: number;
      readonly control: number;
      /** The field whose meaning depends on the type. */
      readonly info: number;
      readonly body: Buffer;
    };

export type SrtData = {
  readonly sequence: number;
  readonly isEncrypted: boolean;
  readonly payload: Buffer;
};

/** A range of sequence numbers, inclusive at both ends. */
export type SequenceRange = { readonly first: number; readonly last: number };

/** Parses a datagram. Returns null if it is not SRT. */
export function readPacket(bytes: Buffer): SrtPacket | null {
  if (bytes.length < headerBytes) return null;
  const first = bytes.readUInt32BE(0);
  const target = bytes.readUInt32BE(12);
  const body = bytes.subarray(headerBytes);
  if (first >= controlBit) {
    const control = (first >>> 16) & 0x7fff;
    return { type: 'control', target, control, info: bytes.readUInt32BE(4), body };
  }
  const isEncrypted = ((bytes.readUInt32BE(4) >>> 27) & 3) !== 0;
  return { type: 'data', target, data: { sequence: first, isEncrypted, payload: body } };
}

export type Control = {
  readonly control: number;
  readonly info?: number;
  readonly body?: Buffer;
  readonly target: number;
  /** Milliseconds since the start of the connection. */
  readonly atMs: number;
};

export function controlPacket({ control, info = 0, body, target, atMs }: Control): Buffer {
  // Some types need a body, which is ignored.
  const bytes = Buffer.concat([Buffer.alloc(headerBytes), body ?? Buffer.alloc(4)]);
  bytes.writeUInt32BE((controlBit | (control << 16)) >>> 0, 0);
  bytes.writeUInt32BE(info >>> 0, 4);
  bytes.writeUInt32BE(Math.floor(atMs * 1_000) % 2 ** 32, 8);
  bytes.writeUInt32BE(target, 12);
  return bytes;
}

/** The signed distance from `other` to `one`, by the shorter way around the number space. */
export function sequenceDistance(one: number, other: number): number {
  const distance = (one - other) & sequenceMask;
  return distance > sequenceMask >>> 1 ? distance - sequenceMask - 1 : distance;
}

export function sequenceAfter(sequence: number, steps = 1): number {
  return (sequence + steps) & sequenceMask;
}

/** Encodes the body of a loss report (appendix A). */
export function lossList(ranges: readonly SequenceRange[]): Buffer {
  const words = ranges.flatMap(({ first, last }) =>
    first === last ? [first] : [(first | controlBit) >>> 0, last],
  );
  const body = Buffer.alloc(words.length * 4);
  for (const [index, word] of words.entries()) body.writeUInt32BE(word, index * 4);
  return body;
}
