import type { CodecContext, Frame, Packet } from 'node-av/lib';
import { decode, type Coverage } from '../source/decoding.ts';
import { AUDIO_FRAME_SAMPLES, AUDIO_SAMPLE_RATE, encode } from '../engine/encoders.ts';
import { audioInput, FrameGraph, GRAPH_AUDIO_OUTPUT } from '../engine/frame-graph.ts';
import type { HlsOutput } from './hls-output.ts';
import { loudnessFilters, type LoudnessChange } from '../sound/loudness.ts';
import type { AudioPace } from './pace.ts';
import { openDecoder, type Source, type SourceStream } from '../source/source.ts';
import type { TaskMeter } from '../task-meter.ts';

export type AudioStage = {
  readonly source: Source;
  readonly stream: SourceStream;
  readonly packets: AsyncIterable<Packet>;
  readonly encoder: CodecContext;
  /** The audio is encoded once and copied to every rung. */
  readonly outputs: readonly HlsOutput[];
  readonly maxSeconds: number;
  readonly meter: TaskMeter;
  readonly coverage: Coverage;
  /** Shared with the video stage, or null for audio-only sources. */
  readonly pace: AudioPace | null;
  /** Applied to the audio before encoding; null leaves it unchanged. */
  readonly loudness: LoudnessChange | null;
};

/** If the video outlasts the audio by less than this, no silence is added. */
const MIN_SILENCE_SECONDS = 0.1;
/** Silence after the end of the audio is generated in pieces of this length. */
const SILENCE_PIECE_SECONDS = 5;

/** Every frame has the encoder's frame size; the last one is padded. */
const TO_ENCODER_FORMAT = [
  'aformat=sample_fmts=fltp:channel_layouts=stereo',
  `asetnsamples=n=${AUDIO_FRAME_SAMPLES}:p=1`,
  GRAPH_AUDIO_OUTPUT,
];

/**
 * Gaps or overlaps between timestamps and samples that reach this size are filled with silence or
 * trimmed. The threshold is above the rounding of containers with millisecond timestamps and below
 * the lip-sync error that people notice.
 */
const MIN_GAP_SECONDS = 0.01;

/**
 * Converts audio with the properties of `frame` to 48 kHz and fills gaps with silence. The first
 * graph starts at time 0.
 */
function soundGraph(frame: Frame, stage: AudioStage, isFirst: boolean): string {
  return [
    audioInput(frame, { timeBase: stage.stream.stream.timeBase }),
    `aresample=${AUDIO_SAMPLE_RATE}:async=1:min_hard_comp=${MIN_GAP_SECONDS}${isFirst ? ':first_pts=0' : ''}`,
    'aformat=sample_fmts=fltp:channel_layouts=stereo',
    ...loudnessFilters(stage.loudness),
    ...TO_ENCODER_FORMAT,
  ].join(',');
}

function silenceGraph(fromSample: bigint, seconds: number): string {
  return [
    `anullsrc=sample_rate=${AUDIO_SAMPLE_RATE}:channel_layout=stereo`,
    `atrim=duration=${seconds}`,
    `asetpts=PTS+${fromSample}`,
    ...TO_ENCODER_FORMAT,
  ].join(',');
}

/** The properties of a frame that require a new graph when they change, as a comparable string. */
function soundFormat(frame: Frame): string {
  const { nbChannels, mask } = frame.channelLayout;
  return [frame.sampleRate, frame.format, nbChannels, mask].join();
}

/** Encodes frames for all outputs and tracks where they end. */
class SoundWriter {
  readonly #encoder: CodecContext;
  readonly #outputs: readonly HlsOutput[];
  readonly #pace: AudioPace | null;
  #nextSample = 0n;

  constructor({ encoder, outputs, pace }: AudioStage) {
    this.#encoder = encoder;
    this.#outputs = outputs;
    this.#pace = pace;
  }

  get endSeconds(): number {
    return Number(this.#nextSample) / AUDIO_SAMPLE_RATE;
  }

  async write(frames: AsyncIterable<Frame>): Promise<void> {
    for await (const frame of frames) {
      // At the boundary between two graphs, the padded end of one overlaps the start of the next.
      if (frame.pts < this.#nextSample) frame.pts = this.#nextSample;
      this.#nextSample = frame.pts + BigInt(frame.nbSamples);
      await this.#pace?.room(this.endSeconds);
      await this.#encode(frame);
      frame.free();
    }
  }

  async writeSilence(seconds: number): Promise<void> {
    using graph = await FrameGraph.open(silenceGraph(this.#nextSample, seconds));
    await this.write(graph.pull());
  }

  finish(): Promise<void> {
    return this.#encode(null);
  }

  async #encode(frame: Frame | null): Promise<void> {
    for await (const packet of encode(this.#encoder, frame)) {
      for (const output of this.#outputs) await output.writeAudio(packet);
      packet.free();
    }
  }
}

/** Decodes and encodes the audio. Returns its end in seconds. */
export async function runAudio(stage: AudioStage): Promise<number> {
  const { coverage, meter, source, stream } = stage;
  const decoder = await openDecoder(stream, 1);
  const writer = new SoundWriter(stage);
  let graph: FrameGraph | null = null;
  let format = '';
  for await (const frame of decode(stage.packets, { ...stage, decoder })) {
    if (source.video === null) meter.reachedTime(coverage.endSeconds);
    if (graph !== null && format !== soundFormat(frame)) await writer.write(graph.push(null));
    if (graph === null || format !== soundFormat(frame)) {
      graph?.[Symbol.dispose]();
      graph = await FrameGraph.open(soundGraph(frame, stage, graph === null));
      format = soundFormat(frame);
    }
    await writer.write(graph.push(frame));
    frame.free();
  }
  if (graph !== null) await writer.write(graph.push(null));
  graph?.[Symbol.dispose]();
  // In a damaged file, the last frame can claim a longer duration than its samples have.
  coverage.endSeconds = Math.min(coverage.endSeconds, writer.endSeconds);
  if (stage.pace !== null) await fillWithSilence(writer, stage.pace);
  await writer.finish();
  return coverage.endSeconds;
}

/**
 * Pads the audio with silence to the end of the video. Players buffer only the range that both
 * tracks cover, and would otherwise wait for audio that never comes.
 */
async function fillWithSilence(writer: SoundWriter, pace: AudioPace): Promise<void> {
  for (;;) {
    const { isOver, pictureSeconds } = await pace.beyond(writer.endSeconds + SILENCE_PIECE_SECONDS);
    const missing = pictureSeconds - writer.endSeconds;
    if (missing >= MIN_SILENCE_SECONDS) await writer.writeSilence(missing);
    if (isOver) return;
  }
}
