/** Reads an FLV file (Adobe, "Flash Video File Format 10.1", annex E.2 and E.3) that we created. */
import { messageType } from './messages.ts';

export type FlvTag = {
  readonly type: number;
  readonly timestampMs: number;
  readonly payload: Buffer;
};

const tagHeaderBytes = 11;
const previousSizeBytes = 4;
const mediaTypes: readonly number[] = [messageType.audio, messageType.video];

/** The audio and video tags in order. */
export function readFlvFile(bytes: Buffer): FlvTag[] {
  const tags: FlvTag[] = [];
  let at = bytes.readUInt32BE(5) + previousSizeBytes;
  while (at + tagHeaderBytes <= bytes.length) {
    const type = bytes[at] ?? 0;
    const size = bytes.readUIntBE(at + 1, 3);
    const timestampMs = bytes.readUIntBE(at + 4, 3) + (bytes[at + 7] ?? 0) * 2 ** 24;
    const start = at + tagHeaderBytes;
    const payload = bytes.subarray(start, start + size);
    if (mediaTypes.includes(type)) tags.push({ type, timestampMs, payload });
    at = start + size + previousSizeBytes;
  }
  return tags;
}
