/** Splits messages into chunks (Adobe, "Real Time Messaging Protocol 1.0", section 5.3). */
import { initialChunkBytes, uint32, type RtmpMessage } from './messages.ts';

const extendedTimestamp = 0xff_ff_ff;

/**
 * Writes each message with a full header, which costs 11 bytes, on a chunk stream for its type.
 * `chunkBytes` is the size announced to the peer.
 */
export class ChunkWriter {
  chunkBytes = initialChunkBytes;

  write(chunkStreamId: number, message: RtmpMessage): Buffer {
    const { type, streamId, timestamp, payload } = message;
    const isExtended = timestamp >= extendedTimestamp;
    const header = Buffer.alloc(12);
    header[0] = chunkStreamId;
    header.writeUIntBE(isExtended ? extendedTimestamp : timestamp, 1, 3);
    header.writeUIntBE(payload.length, 4, 3);
    header[7] = type;
    header.writeUInt32LE(streamId, 8);
    const extension = isExtended ? [uint32(timestamp)] : [];
    const parts = [header, ...extension, payload.subarray(0, this.chunkBytes)];
    for (let at = this.chunkBytes; at < payload.length; at += this.chunkBytes) {
      const continued = Buffer.of(0b1100_0000 | chunkStreamId);
      parts.push(continued, ...extension, payload.subarray(at, at + this.chunkBytes));
    }
    return Buffer.concat(parts);
  }
}
