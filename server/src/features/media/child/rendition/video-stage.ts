import type { CodecContext, Frame, Packet } from 'node-av/lib';
import type { VideoRung } from '../../ladder.ts';
import { BoundedQueue } from './bounded-queue.ts';
import { decode, type Coverage } from '../source/decoding.ts';
import { encode, encodeAll } from '../engine/encoders.ts';
import { required } from '../engine/engine.ts';
import { FrameGraph } from '../engine/frame-graph.ts';
import type { HlsOutput } from './hls-output.ts';
import type { Orientation } from '../picture/orientation.ts';
import { rungGraph } from '../picture/picture-filters.ts';
import type { AudioPace } from './pace.ts';
import { openDecoder, type Source, type SourceStream } from '../source/source.ts';
import type { TaskMeter } from '../task-meter.ts';

/** Maximum frames queued between decoder and encoder; each can take 50 MB. */
const FRAMES_AHEAD = 4;
/** Audio that exceeds the video by less than this is encoder padding. */
const PADDING_SECONDS = 0.1;

/** One video rung: its encoder and the destination of its packets. */
export type VideoLane = {
  readonly rung: VideoRung;
  readonly encoder: CodecContext;
  readonly output: HlsOutput;
};

export type VideoStage = {
  readonly source: Source;
  readonly stream: SourceStream;
  readonly packets: AsyncIterable<Packet>;
  readonly lanes: readonly VideoLane[];
  readonly threads: number;
  readonly orientation: Orientation;
  readonly maxSeconds: number;
  readonly meter: TaskMeter;
  readonly coverage: Coverage;
  readonly pace: AudioPace;
  /** Resolves to the end of the audio in seconds once it is fully decoded; 0 without audio. */
  readonly audioEnd: Promise<number>;
  /** Another reader of the decoded pictures besides the lanes; it frees them. */
  readonly watchFrames?: (frames: AsyncIterable<Frame>) => Promise<void>;
};

/** Decodes the video once and encodes it for all lanes in parallel. */
export async function runVideo(stage: VideoStage): Promise<void> {
  const laneQueues = stage.lanes.map((lane) => ({ lane, frames: newQueue() }));
  const readers = laneQueues.map(({ frames }) => frames);
  const watched = newQueue();
  if (stage.watchFrames !== undefined) readers.push(watched);
  await Promise.all([
    decodeInto(readers, stage),
    ...laneQueues.map(({ lane, frames }) => runLane(lane, frames, stage)),
    stage.watchFrames?.(watched),
  ]);
}

function newQueue(): BoundedQueue<Frame> {
  return new BoundedQueue(FRAMES_AHEAD);
}

/** Passes every frame to all readers. At the end, holds the last one until the audio ends. */
async function decodeInto(readers: BoundedQueue<Frame>[], stage: VideoStage): Promise<void> {
  const { coverage, meter, pace, packets } = stage;
  const decoder = await openDecoder(stage.stream, stage.threads);
  const share = async (frame: Frame): Promise<void> => {
    for (const reader of readers) await reader.push(required(frame.clone(), 'memory'));
  };
  let last: Frame | null = null;
  for await (const frame of decode(packets, { ...stage, decoder })) {
    meter.reachedTime(coverage.endSeconds);
    pace.reached(coverage.endSeconds);
    await share(frame);
    last?.free();
    last = frame;
  }
  pace.end();
  if (last !== null && (await isHeld(last, stage))) await share(last);
  last?.free();
  for (const reader of readers) reader.end();
}

/**
 * Moves the last picture to the end of the audio if that is later, and returns whether it did.
 * Segments are cut at pictures, so audio without pictures would all end up in the last segment.
 */
export async function isHeld(
  last: Frame,
  { audioEnd, coverage, stream }: Pick<VideoStage, 'audioEnd' | 'coverage' | 'stream'>,
): Promise<boolean> {
  const end = await audioEnd;
  if (end <= coverage.endSeconds + PADDING_SECONDS) return false;
  const { num, den } = stream.stream.timeBase;
  last.pts = BigInt(Math.floor((end * den) / num)) - last.duration;
  return true;
}

async function runLane(
  lane: VideoLane,
  frames: AsyncIterable<Frame>,
  stage: VideoStage,
): Promise<void> {
  const { encoder, output, rung } = lane;
  const { leadFrames } = output.segments;
  const isKey = (frame: Frame): boolean => leadFrames > 0 && frame.pts === BigInt(leadFrames);
  const timing = { timeBase: stage.stream.stream.timeBase };
  const write = (packet: Packet): Promise<void> => {
    // One input picture can expand to minutes of output, so output counts as work, too.
    stage.meter.addWork();
    return output.writeVideo(packet);
  };
  let graph: FrameGraph | null = null;
  for await (const frame of frames) {
    graph ??= await FrameGraph.open(rungGraph(frame, timing, rung, stage.orientation));
    await encodeAll(graph.push(frame), encoder, { isKey, write });
    frame.free();
    stage.meter.addWork();
  }
  if (graph !== null) await encodeAll(graph.push(null), encoder, { isKey, write });
  for await (const packet of encode(encoder, null)) await write(packet);
  graph?.[Symbol.dispose]();
}
