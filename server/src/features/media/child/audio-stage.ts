import type { CodecContext, Frame, Packet } from 'node-av/lib';
import { decode, type Coverage } from './decoding.ts';
import { AUDIO_FRAME_SAMPLES, AUDIO_SAMPLE_RATE, encode } from './encoders.ts';
import { audioInput, FrameGraph, GRAPH_AUDIO_OUTPUT } from './frame-graph.ts';
import { MAX_INTERLEAVE_SECONDS, type HlsOutput } from './hls-output.ts';
import { loudnessFilters, type LoudnessChange } from './loudness.ts';
import { openDecoder, type Source, type SourceStream } from './source.ts';
import type { TaskMeter } from './task-meter.ts';

export type AudioStage = {
  readonly source: Source;
  readonly stream: SourceStream;
  readonly packets: AsyncIterable<Packet>;
  readonly encoder: CodecContext;
  /** The sound is encoded once and copied into each rung. */
  readonly outputs: readonly HlsOutput[];
  readonly maxSeconds: number;
  readonly meter: TaskMeter;
  readonly coverage: Coverage;
  /** Applied to the sound before it is encoded; null leaves it as it is. */
  readonly loudness: LoudnessChange | null;
};

/** A picture that lasts for less than this after the sound needs no silence. */
const MIN_SILENCE_SECONDS = 0.1;

/** Every frame has the encoder's length, the last one filled up. */
const TO_ENCODER_FORMAT = [
  'aformat=sample_fmts=fltp:channel_layouts=stereo',
  `asetnsamples=n=${AUDIO_FRAME_SAMPLES}:p=1`,
  GRAPH_AUDIO_OUTPUT,
];

/**
 * Differences between timestamps and samples from this on are filled with silence or cut. It lies
 * above the rounding of containers that count in milliseconds and below what an ear notices as
 * sound that is not in time with the lips.
 */
const MIN_GAP_SECONDS = 0.01;

/** Sound like `frame` at 48 kHz, gaps filled with silence; the first graph starts at time 0. */
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

/** What makes one graph unfit for the next frame, in one word to compare. */
function soundFormat(frame: Frame): string {
  const { nbChannels, mask } = frame.channelLayout;
  return [frame.sampleRate, frame.format, nbChannels, mask].join();
}

/** Encodes frames for all outputs and remembers where they end. */
class SoundWriter {
  readonly #encoder: CodecContext;
  readonly #outputs: readonly HlsOutput[];
  nextSample = 0n;

  constructor(encoder: CodecContext, outputs: readonly HlsOutput[]) {
    this.#encoder = encoder;
    this.#outputs = outputs;
  }

  async write(frames: AsyncIterable<Frame>): Promise<void> {
    for await (const frame of frames) {
      // Where two graphs meet, the filled-up end of one overlaps the start of the next.
      if (frame.pts < this.nextSample) frame.pts = this.nextSample;
      this.nextSample = frame.pts + BigInt(frame.nbSamples);
      await this.#encode(frame);
      frame.free();
    }
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

/** Decodes the sound, encodes it, and returns where it ends, in seconds. */
export async function runAudio(stage: AudioStage): Promise<number> {
  const { coverage, encoder, meter, outputs, source, stream } = stage;
  const decoder = await openDecoder(stream, 1);
  const writer = new SoundWriter(encoder, outputs);
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
  await fillWithSilence(writer, source);
  await writer.finish();
  return coverage.endSeconds;
}

/**
 * Goes on with silence where the picture is longer. Players buffer only what has both, and would
 * wait for sound that never comes.
 */
async function fillWithSilence(
  writer: SoundWriter,
  { video, declaredSeconds }: Source,
): Promise<void> {
  if (video === null) return;
  const pictureSeconds = video.declaredSeconds ?? declaredSeconds ?? 0;
  const missing = pictureSeconds - Number(writer.nextSample) / AUDIO_SAMPLE_RATE;
  if (missing < MIN_SILENCE_SECONDS || missing > MAX_INTERLEAVE_SECONDS) return;
  using graph = await FrameGraph.open(silenceGraph(writer.nextSample, missing));
  await writer.write(graph.pull());
}
