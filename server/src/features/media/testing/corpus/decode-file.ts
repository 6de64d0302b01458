/** Decodes files for comparison with plain FFmpeg, without the engine's own logic. */
import { Codec, CodecContext, FormatContext, Frame, Packet, type Stream } from 'node-av/lib';
import {
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_VIDEO,
  AV_CODEC_ID_AV1,
  AV_DISPOSITION_DEFAULT,
  AV_NOPTS_VALUE,
  FF_DECODER_LIBDAV1D,
  type AVMediaType,
} from 'node-av/constants';
import { check, received, required } from '../../child/engine/engine.ts';
import {
  audioInput,
  FrameGraph,
  GRAPH_AUDIO_OUTPUT,
  GRAPH_OUTPUT,
  videoInput,
} from '../../child/engine/frame-graph.ts';

export type Picture = { readonly seconds: number; readonly luma: Buffer };

export type Decoded = {
  /** Luma of each picture, scaled to the requested size. */
  readonly pictures: readonly Picture[];
  readonly soundStartSeconds: number | null;
  readonly soundEndSeconds: number;
  /** When the audio first reaches a tenth of its peak, or null for silence or no audio. */
  readonly onsetSeconds: number | null;
};

type Size = { readonly width: number; readonly height: number };

const SOUND_RATE = 48_000;
/** One millisecond. */
const PEAK_SAMPLES = 48;
const HEARD_SHARE = 0.1;
const SILENCE = 0.001;

function choose(container: FormatContext, type: AVMediaType): Stream | null {
  const streams = container.streams.filter(({ codecpar }) => codecpar.codecType === type);
  const chosen = streams.find(({ disposition }) => (disposition & AV_DISPOSITION_DEFAULT) !== 0);
  return chosen ?? streams[0] ?? null;
}

function openDecoder(stream: Stream): CodecContext {
  const { codecId } = stream.codecpar;
  const found =
    codecId === AV_CODEC_ID_AV1
      ? Codec.findDecoderByName(FF_DECODER_LIBDAV1D)
      : Codec.findDecoder(codecId);
  const codec = required(found, 'a decoder');
  const decoder = new CodecContext();
  decoder.allocContext3(codec);
  check(decoder.parametersToContext(stream.codecpar), 'parameters');
  decoder.pktTimebase = stream.timeBase;
  check(decoder.open2Sync(codec), 'open decoder');
  return decoder;
}

function lumaOf(frame: Frame): Buffer {
  const plane = frame.data?.[0] ?? Buffer.alloc(0);
  const stride = frame.linesize[0] ?? frame.width;
  const rows = Array.from({ length: frame.height }, (_, row) =>
    plane.subarray(row * stride, row * stride + frame.width),
  );
  return Buffer.concat(rows);
}

/** Converts pictures to limited-range BT.709 luma. `turn` is a filter that rotates them upright. */
function pictureGraph(frame: Frame, stream: Stream, size: Size, turn: string | null): string {
  return [
    videoInput(frame, { timeBase: stream.timeBase }),
    ...(turn === null ? [] : [turn]),
    `scale=w=${size.width}:h=${size.height}:flags=bicubic:out_color_matrix=bt709:out_range=tv`,
    'format=yuv420p',
    GRAPH_OUTPUT,
  ].join(',');
}

type DecodeOptions = {
  readonly size: Size | null;
  readonly turn: string | null;
  readonly mayBeDamaged: boolean;
};

/** Peak level of the audio per millisecond. */
type Peak = { readonly seconds: number; readonly peak: number };

/** Decodes one track and keeps the data to compare. */
class TrackDecoder {
  readonly #stream: Stream;
  readonly #decoder: CodecContext;
  readonly #options: DecodeOptions;
  #graph: FrameGraph | null = null;
  readonly pictures: Picture[] = [];
  readonly peaks: Peak[] = [];
  startSeconds: number | null = null;
  endSeconds = 0;

  constructor(stream: Stream, options: DecodeOptions) {
    this.#stream = stream;
    this.#decoder = openDecoder(stream);
    this.#options = options;
  }

  /** Processes a packet; null flushes. */
  async take(packet: Packet | null): Promise<void> {
    const { mayBeDamaged } = this.#options;
    const answer = this.#decoder.sendPacketSync(packet);
    if (answer < 0 && !mayBeDamaged) check(answer, 'decode');
    for (;;) {
      const frame = new Frame();
      frame.alloc();
      const got = this.#decoder.receiveFrameSync(frame);
      if (got < 0 && mayBeDamaged) return;
      if (!received(got, 'take frame')) return;
      if (frame.bestEffortTimestamp !== AV_NOPTS_VALUE) await this.#keep(frame);
      frame.free();
    }
  }

  async #keep(frame: Frame): Promise<void> {
    const seconds = Number(frame.bestEffortTimestamp) * this.#stream.timeBase.toDouble();
    this.startSeconds ??= seconds;
    if (this.#stream.codecpar.codecType === AVMEDIA_TYPE_VIDEO) {
      await this.#keepPicture(frame, seconds);
      return;
    }
    this.endSeconds = Math.max(this.endSeconds, seconds + frame.nbSamples / frame.sampleRate);
    await this.#keepSound(frame, seconds);
  }

  async #keepPicture(frame: Frame, seconds: number): Promise<void> {
    const { size, turn } = this.#options;
    this.#graph ??= await FrameGraph.open(
      pictureGraph(frame, this.#stream, required(size, 'a size'), turn),
    );
    for await (const output of this.#graph.push(frame)) {
      this.pictures.push({ seconds, luma: lumaOf(output) });
      output.free();
    }
  }

  /** Each frame gets its own graph, which keeps its timestamp intact. */
  async #keepSound(frame: Frame, seconds: number): Promise<void> {
    using graph = await FrameGraph.open(
      `${audioInput(frame, { timeBase: this.#stream.timeBase })},aresample=${SOUND_RATE},` +
        `aformat=sample_fmts=flt:channel_layouts=mono,${GRAPH_AUDIO_OUTPUT}`,
    );
    let position = seconds;
    for (const outputs of [graph.push(frame), graph.push(null)]) {
      for await (const output of outputs) {
        const plane = output.data?.[0] ?? Buffer.alloc(0);
        for (let at = 0; at < output.nbSamples; at += PEAK_SAMPLES) {
          const end = Math.min(at + PEAK_SAMPLES, output.nbSamples);
          this.peaks.push({ seconds: position + at / SOUND_RATE, peak: peakOf(plane, at, end) });
        }
        position += output.nbSamples / SOUND_RATE;
        output.free();
      }
    }
  }

  [Symbol.dispose](): void {
    this.#graph?.[Symbol.dispose]();
    this.#decoder.freeContext();
  }
}

function peakOf(plane: Buffer, from: number, to: number): number {
  let peak = 0;
  for (let at = from; at < to; at += 1) peak = Math.max(peak, Math.abs(plane.readFloatLE(at * 4)));
  return peak;
}

/**
 * Decodes a whole file; pictures are scaled to `size`, and skipped if it is null. Throws if FFmpeg
 * can't decode a packet, unless the file may be damaged.
 */
export async function decodeFile(
  path: string,
  size: Size | null,
  { turn = null, mayBeDamaged = false }: Partial<Omit<DecodeOptions, 'size'>> = {},
): Promise<Decoded> {
  const container = new FormatContext();
  container.allocContext();
  check(await container.openInput(path), 'open');
  check(await container.findStreamInfo(null), 'find streams');
  const decoders = new Map<number, TrackDecoder>();
  const open = (type: AVMediaType): TrackDecoder | null => {
    const stream = choose(container, type);
    if (stream === null) return null;
    const decoder = new TrackDecoder(stream, { size, turn, mayBeDamaged });
    decoders.set(stream.index, decoder);
    return decoder;
  };
  const video = size === null ? null : open(AVMEDIA_TYPE_VIDEO);
  const audio = open(AVMEDIA_TYPE_AUDIO);
  const packet = new Packet();
  packet.alloc();
  while (received(await container.readFrame(packet), 'read')) {
    if (packet.size > 0) await decoders.get(packet.streamIndex)?.take(packet);
    packet.unref();
  }
  packet.free();
  for (const decoder of decoders.values()) {
    await decoder.take(null);
    decoder[Symbol.dispose]();
  }
  await container.closeInput();
  return {
    pictures: video?.pictures ?? [],
    soundStartSeconds: audio?.startSeconds ?? null,
    soundEndSeconds: audio?.endSeconds ?? 0,
    onsetSeconds: onsetOf(audio?.peaks ?? []),
  };
}

function onsetOf(peaks: readonly Peak[]): number | null {
  const highest = peaks.reduce((found, { peak }) => Math.max(found, peak), 0);
  if (highest < SILENCE) return null;
  return peaks.find(({ peak }) => peak > highest * HEARD_SHARE)?.seconds ?? null;
}
