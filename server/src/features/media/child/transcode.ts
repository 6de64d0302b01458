import { availableParallelism } from 'node:os';
import type { CodecContext, Frame, Packet } from 'node-av/lib';
import type { AudioRung, Rung, VideoRung } from '../ladder.ts';
import type { Rendition } from '../tasks.ts';
import { BoundedQueue } from './bounded-queue.ts';
import {
  decode,
  demux,
  emptyCoverage,
  packetQueues,
  type Coverage,
  type PacketQueues,
} from './decoding.ts';
import { required } from './engine.ts';
import {
  AUDIO_FRAME_SAMPLES,
  AUDIO_SAMPLE_RATE,
  encode,
  openAudioEncoder,
  openVideoEncoder,
} from './encoders.ts';
import { audioInput, FrameGraph, GRAPH_AUDIO_OUTPUT } from './frame-graph.ts';
import { HlsOutput } from './hls-output.ts';
import type { Orientation } from './orientation.ts';
import { rungGraph } from './picture-filters.ts';
import { openDecoder, type Source, type SourceStream } from './source.ts';
import type { TaskMeter } from './task-meter.ts';

/** Frames that may wait between decoder and encoder; each can be 50 MB large. */
const FRAMES_AHEAD = 4;

export interface TranscodeOptions {
  readonly source: Source;
  readonly rungs: readonly Rung[];
  readonly outputDir: string;
  readonly segmentSeconds: number;
  readonly orientation: Orientation;
  /** Frames later than this end the task. */
  readonly maxSeconds: number;
  readonly meter: TaskMeter;
  /** One more reader of the decoded pictures, beside the rungs; it frees what it takes. */
  readonly watchFrames?: (frames: AsyncIterable<Frame>) => Promise<void>;
}

/** Everything is encoded; the caller looks at what was decoded before it calls `finish`. */
export interface TranscodeResult {
  readonly video: Coverage;
  readonly audio: Coverage;
  /** Ends the last segments and the playlists. */
  readonly finish: () => Promise<Rendition[]>;
}

/**
 * Decodes a source once and encodes all given rungs side by side.
 *
 * Stages run at the same time, joined by bounded queues: demuxer, two decoders, and for each rung
 * filters and encoder. Each native call runs on a thread of its own, so all cores have work.
 */
export async function transcode(options: TranscodeOptions): Promise<TranscodeResult> {
  const { source, meter, rungs } = options;
  const queues = packetQueues();
  const video = emptyCoverage();
  const audio = emptyCoverage();
  const audioEncoder = source.audio === null ? null : await openAudioEncoder();
  const lanes = await Promise.all(rungs.map((rung) => openLane(rung, audioEncoder, options)));
  const outputs = lanes.map((lane) => lane.output);
  await Promise.all([
    demux(source, queues, meter),
    source.video === null
      ? null
      : runVideo(source.video, queues, { ...options, lanes, coverage: video }),
    source.audio === null || audioEncoder === null
      ? null
      : runAudio(source.audio, queues, { ...options, outputs, audioEncoder, coverage: audio }),
  ]);
  return { video, audio, finish: () => Promise.all(outputs.map((output) => output.finish())) };
}

/** One rung on its way: frames in, segments out. */
interface Lane {
  readonly rung: VideoRung | AudioRung;
  readonly encoder: CodecContext | null;
  readonly output: HlsOutput;
  readonly frames: BoundedQueue<Frame>;
}

async function openLane(
  rung: Rung,
  audioEncoder: CodecContext | null,
  options: TranscodeOptions,
): Promise<Lane> {
  const encoder = rung.kind === 'video' ? await openVideoEncoder(rung) : null;
  const output = await HlsOutput.open(
    options.outputDir,
    rung,
    { video: encoder, audio: audioEncoder },
    options.segmentSeconds,
  );
  return { rung, encoder, output, frames: new BoundedQueue(FRAMES_AHEAD) };
}

async function runVideo(
  stream: SourceStream,
  queues: PacketQueues,
  options: TranscodeOptions & { lanes: readonly Lane[]; coverage: Coverage },
): Promise<void> {
  const { lanes, meter, source, watchFrames } = options;
  const decoder = await openDecoder(stream, availableParallelism());
  const watched = new BoundedQueue<Frame>(FRAMES_AHEAD);
  const readers = lanes.map((lane) => lane.frames);
  if (watchFrames !== undefined) readers.push(watched);
  const decodeAll = async (): Promise<void> => {
    const frames = decode(queues.video, { ...options, source, stream, decoder });
    for await (const frame of frames) {
      meter.reachedTime(options.coverage.endSeconds);
      for (const reader of readers) await reader.push(required(frame.clone(), 'memory'));
      frame.free();
    }
    for (const reader of readers) reader.end();
  };
  await Promise.all([
    decodeAll(),
    ...lanes.map((lane) => runLane(lane, stream, options)),
    watchFrames?.(watched),
  ]);
}

async function runLane(lane: Lane, stream: SourceStream, options: TranscodeOptions): Promise<void> {
  const { rung, encoder, output } = lane;
  if (rung.kind !== 'video' || encoder === null) return;
  let graph: FrameGraph | null = null;
  for await (const frame of lane.frames) {
    graph ??= await FrameGraph.open(
      rungGraph(frame, { timeBase: stream.stream.timeBase }, rung, options.orientation),
    );
    await encodeAll(graph.push(frame), encoder, (packet) => output.writeVideo(packet));
    frame.free();
    options.meter.addWork();
  }
  if (graph !== null) {
    await encodeAll(graph.push(null), encoder, (packet) => output.writeVideo(packet));
  }
  for await (const packet of encode(encoder, null)) await output.writeVideo(packet);
  graph?.[Symbol.dispose]();
}

async function encodeAll(
  frames: AsyncIterable<Frame>,
  encoder: CodecContext,
  write: (packet: Packet) => Promise<void>,
): Promise<void> {
  for await (const frame of frames) {
    for await (const packet of encode(encoder, frame)) await write(packet);
    frame.free();
  }
}

/** The graph text for sound: 48 kHz stereo, gaps filled with silence, from time 0 on. */
function audioGraph(frame: Frame, stream: SourceStream): string {
  return [
    audioInput(frame, { timeBase: stream.stream.timeBase }),
    `aresample=${AUDIO_SAMPLE_RATE}:async=1:first_pts=0`,
    'aformat=sample_fmts=fltp:channel_layouts=stereo',
    `asetnsamples=n=${AUDIO_FRAME_SAMPLES}:p=0`,
    GRAPH_AUDIO_OUTPUT,
  ].join(',');
}

async function runAudio(
  stream: SourceStream,
  queues: PacketQueues,
  options: TranscodeOptions & {
    outputs: readonly HlsOutput[];
    audioEncoder: CodecContext;
    coverage: Coverage;
  },
): Promise<void> {
  const { audioEncoder, meter, outputs, source } = options;
  const decoder = await openDecoder(stream, 1);
  const write = async (packet: Packet): Promise<void> => {
    for (const output of outputs) await output.writeAudio(packet);
    packet.free();
  };
  let graph: FrameGraph | null = null;
  for await (const frame of decode(queues.audio, { ...options, source, stream, decoder })) {
    if (source.video === null) meter.reachedTime(options.coverage.endSeconds);
    graph ??= await FrameGraph.open(audioGraph(frame, stream));
    await encodeAll(graph.push(frame), audioEncoder, write);
    frame.free();
  }
  if (graph !== null) await encodeAll(graph.push(null), audioEncoder, write);
  for await (const packet of encode(audioEncoder, null)) await write(packet);
  graph?.[Symbol.dispose]();
}
