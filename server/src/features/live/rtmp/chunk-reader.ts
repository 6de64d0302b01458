/**
 * Assembles messages from chunks (Adobe, "Real Time Messaging Protocol 1.0", section 5.3). The
 * input is untrusted, so all buffers are bounded.
 */
import { initialChunkBytes, messageType, type RtmpMessage } from './messages.ts';
import { RtmpError } from './rtmp-error.ts';

/** For commands, which a connection sends before it publishes. */
const maxCommandBytes = 64 * 1024;
/** About the size of a key frame at 100 Mbit/s. */
const maxMediaBytes = 4 * 1024 * 1024;
const maxChunkBytes = 1024 * 1024;
/** Encoders use about six. */
const maxChunkStreams = 16;
/** A 24-bit timestamp that announces a 32-bit one. */
const extendedTimestamp = 0xff_ff_ff;
const headerBytesByFormat = [11, 7, 3, 0] as const;

type ChunkStream = {
  timestamp: number;
  /** The latest timestamp field: a difference, unless `isAbsolute`. */
  field: number;
  isAbsolute: boolean;
  isExtended: boolean;
  length: number;
  type: number;
  streamId: number;
  parts: Buffer[];
  received: number;
};

type Header = { format: number; id: number; bytes: number };

export class ChunkReader {
  #rest: Buffer = Buffer.alloc(0);
  #chunkBytes = initialChunkBytes;
  #maxMessageBytes = maxCommandBytes;
  readonly #streams = new Map<number, ChunkStream>();

  /** From now on, accepts messages large enough for media. */
  allowMedia(): void {
    this.#maxMessageBytes = maxMediaBytes;
  }

  /**
   * Adds bytes and yields the messages that they complete.
   * @throws {RtmpError}
   */
  *read(bytes: Buffer): Generator<RtmpMessage> {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (;;) {
      const { done, message } = this.#readChunk();
      if (done) return;
      if (message === null) continue;
      if (message.type === messageType.setChunkSize) this.#setChunkSize(message.payload);
      else if (message.type === messageType.abort) this.#abort(message.payload);
      else yield message;
    }
  }

  /** `done` if the bytes do not contain another complete chunk. */
  #readChunk(): { done: boolean; message: RtmpMessage | null } {
    const more = { done: true, message: null };
    const header = this.#readBasicHeader();
    if (header === null) return more;
    const stream = this.#streamOf(header);
    const fieldsAt = header.bytes;
    const fieldBytes = headerBytesByFormat[header.format] ?? 0;
    if (this.#rest.length < fieldsAt + fieldBytes) return more;
    const fields = this.#rest.subarray(fieldsAt, fieldsAt + fieldBytes);
    const isExtended =
      fieldBytes > 0 ? fields.readUIntBE(0, 3) === extendedTimestamp : stream.isExtended;
    const payloadAt = fieldsAt + fieldBytes + (isExtended ? 4 : 0);
    if (this.#rest.length < payloadAt) return more;
    const length = fieldBytes >= 7 ? fields.readUIntBE(3, 3) : stream.length;
    if (length > this.#maxMessageBytes) throw new RtmpError('a message is too large');
    const size = Math.min(this.#chunkBytes, length - stream.received);
    if (this.#rest.length < payloadAt + size) return more;
    if (stream.received > 0 && header.format !== 3) {
      throw new RtmpError('a message starts before the previous one has ended');
    }
    const extended = isExtended ? this.#rest.readUInt32BE(fieldsAt + fieldBytes) : 0;
    applyHeader(stream, { format: header.format, fields, isExtended, extended });
    const message = takePart(stream, this.#rest.subarray(payloadAt, payloadAt + size));
    this.#rest = this.#rest.subarray(payloadAt + size);
    return { done: false, message };
  }

  #readBasicHeader(): Header | null {
    const [first, second, third] = this.#rest;
    if (first === undefined) return null;
    const format = first >> 6;
    const low = first & 63;
    if (low > 1) return { format, id: low, bytes: 1 };
    if (second === undefined) return null;
    if (low === 0) return { format, id: second + 64, bytes: 2 };
    if (third === undefined) return null;
    return { format, id: third * 256 + second + 64, bytes: 3 };
  }

  #streamOf({ format, id }: Header): ChunkStream {
    const known = this.#streams.get(id);
    if (known !== undefined) return known;
    if (format !== 0 && format !== 1)
      throw new RtmpError('a chunk refers to an unknown previous chunk');
    if (this.#streams.size >= maxChunkStreams) throw new RtmpError('too many chunk streams');
    const fresh: ChunkStream = {
      timestamp: 0,
      field: 0,
      isAbsolute: true,
      isExtended: false,
      length: 0,
      type: 0,
      streamId: 0,
      parts: [],
      received: 0,
    };
    this.#streams.set(id, fresh);
    return fresh;
  }

  #setChunkSize(payload: Buffer): void {
    const size = payload.length >= 4 ? payload.readUInt32BE() : 0;
    if (size < 1 || size > maxChunkBytes) throw new RtmpError('the chunk size is invalid');
    this.#chunkBytes = size;
  }

  #abort(payload: Buffer): void {
    const stream = this.#streams.get(payload.length >= 4 ? payload.readUInt32BE() : -1);
    if (stream !== undefined) Object.assign(stream, { parts: [], received: 0 });
  }
}

type ReadHeader = { format: number; fields: Buffer; isExtended: boolean; extended: number };

/** Applies a chunk header, advancing the timestamp at the start of a message. */
function applyHeader(stream: ChunkStream, header: ReadHeader): void {
  const { format, fields, isExtended, extended } = header;
  if (stream.received > 0) return;
  if (fields.length > 0) {
    stream.isExtended = isExtended;
    stream.field = isExtended ? extended : fields.readUIntBE(0, 3);
    stream.isAbsolute = format === 0;
  }
  if (fields.length >= 7) {
    stream.length = fields.readUIntBE(3, 3);
    stream.type = fields[6] ?? 0;
  }
  if (fields.length === 11) stream.streamId = fields.readUInt32LE(7);
  stream.timestamp = stream.isAbsolute ? stream.field : (stream.timestamp + stream.field) >>> 0;
  // A further message without its own header reuses the field as a difference (5.3.1.2.4).
  stream.isAbsolute = false;
}

function takePart(stream: ChunkStream, part: Buffer): RtmpMessage | null {
  stream.parts.push(part);
  stream.received += part.length;
  if (stream.received < stream.length) return null;
  const [only = Buffer.alloc(0)] = stream.parts;
  const payload = stream.parts.length === 1 ? Buffer.from(only) : Buffer.concat(stream.parts);
  stream.parts = [];
  stream.received = 0;
  const { type, streamId, timestamp } = stream;
  return { type, streamId, timestamp, payload };
}
