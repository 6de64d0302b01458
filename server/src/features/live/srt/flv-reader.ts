/** Parses an FLV stream incrementally (Adobe, "Flash Video File Format 10.1", annex E). */
import { messageType, type RtmpMessage } from '../rtmp/messages.ts';
import { RtmpError } from '../rtmp/rtmp-error.ts';

const fileHeaderBytes = 13;
const tagHeaderBytes = 11;
const previousSizeBytes = 4;
/** The same limit as for RTMP. */
const maxTagBytes = 4 * 1024 * 1024;
const taken: readonly number[] = [messageType.audio, messageType.video, messageType.data];

export class FlvReader {
  #rest: Buffer = Buffer.alloc(0);
  #hasBegun = false;

  /**
   * Yields the tags that these bytes complete, as RTMP messages.
   *
   * @throws {RtmpError} if the bytes are not FLV
   */
  *read(bytes: Buffer): Generator<RtmpMessage> {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    if (!this.#hasBegun) {
      if (this.#rest.length < fileHeaderBytes) return;
      this.#rest = this.#rest.subarray(fileHeaderBytes);
      this.#hasBegun = true;
    }
    for (;;) {
      const all = this.#rest;
      if (all.length < tagHeaderBytes) return;
      const size = all.readUIntBE(1, 3);
      if (size > maxTagBytes) throw new RtmpError('a video frame is too large');
      const end = tagHeaderBytes + size + previousSizeBytes;
      if (all.length < end) return;
      this.#rest = all.subarray(end);
      const type = all[0] ?? 0;
      const timestamp = all.readUIntBE(4, 3) + (all[7] ?? 0) * 2 ** 24;
      const payload = all.subarray(tagHeaderBytes, tagHeaderBytes + size);
      if (taken.includes(type)) yield { type, streamId: 1, timestamp, payload };
    }
  }
}
