/** RTMP messages (Adobe, "Real Time Messaging Protocol 1.0", sections 5.4 and 7). */
export const messageType = {
  setChunkSize: 1,
  abort: 2,
  acknowledgement: 3,
  userControl: 4,
  windowAcknowledgementSize: 5,
  setPeerBandwidth: 6,
  audio: 8,
  video: 9,
  data: 18,
  command: 20,
} as const;

export type RtmpMessage = {
  readonly type: number;
  readonly streamId: number;
  /** Milliseconds, modulo 2^32. */
  readonly timestamp: number;
  readonly payload: Buffer;
};

/** The protocol version, and the size of handshake packets (section 5.2). */
export const protocolVersion = 3;
export const handshakeBytes = 1536;

/** Initial chunk size of both sides. */
export const initialChunkBytes = 128;

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}
