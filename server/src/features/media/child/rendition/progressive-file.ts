import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CodecContext,
  Dictionary,
  FormatContext,
  type Packet,
  type Stream,
} from 'node-av/lib';
import { DERIVED_FILES } from '../../derived-files.ts';
import { check, required } from '../engine/engine.ts';

const KIND = 'download';

/**
 * Writes a rendition additionally as a single MP4 that plays while it loads, from the same packets
 * as its segments, so nothing is encoded twice. A muxer is not reentrant, so the caller must await
 * each call before the next.
 */
export class ProgressiveFile {
  readonly #muxer: FormatContext;
  readonly #streams: ReadonlyMap<CodecContext, Stream>;

  private constructor(muxer: FormatContext, streams: ReadonlyMap<CodecContext, Stream>) {
    this.#muxer = muxer;
    this.#streams = streams;
  }

  static async open(
    outputDir: string,
    encoders: readonly CodecContext[],
    maxInterleaveDelta: bigint,
  ): Promise<ProgressiveFile> {
    await mkdir(join(outputDir, KIND));
    const path = join(outputDir, KIND, DERIVED_FILES[KIND]);
    const muxer = new FormatContext();
    check(muxer.allocOutputContext2(null, 'mp4', path), 'open MP4');
    muxer.maxInterleaveDelta = maxInterleaveDelta;
    const streams = new Map<CodecContext, Stream>();
    for (const encoder of encoders) {
      const stream = muxer.newStream(null);
      check(stream.codecpar.fromContext(encoder), 'set stream parameters');
      stream.timeBase = encoder.timeBase;
      streams.set(encoder, stream);
    }
    check(await muxer.openOutput(), 'open MP4 file');
    using options = Dictionary.fromObject({ movflags: '+faststart' });
    check(await muxer.writeHeader(options), 'write MP4 header');
    return new ProgressiveFile(muxer, streams);
  }

  /** Takes ownership of a packet in its encoder's time base. */
  async write(packet: Packet, encoder: CodecContext): Promise<void> {
    const stream = required(this.#streams.get(encoder), 'a track');
    packet.rescaleTs(encoder.timeBase, stream.timeBase);
    packet.streamIndex = stream.index;
    check(await this.#muxer.interleavedWriteFrame(packet), 'write MP4');
    packet.free();
  }

  async finish(): Promise<void> {
    check(await this.#muxer.writeTrailer(), 'finish MP4');
    await this.#muxer.closeOutput();
    this.#muxer.freeContext();
  }
}
