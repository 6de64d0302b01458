import type { CodecContext, Frame, Packet } from 'node-av/lib';
import type { VideoRung } from '../../ladder.ts';
import { BoundedQueue } from './bounded-queue.ts';
import { removeCaptions } from '../picture/closed-captions.ts';
import { decode, emptyCoverage, readPackets, type Coverage } from '../source/decoding.ts';
import { encode, openVideoEncoder } from '../engine/encoders.ts';
import { required } from '../engine/engine.ts';
import { FrameGraph } from '../engine/frame-graph.ts';
import type { HlsOutput } from './hls-output.ts';
import type { Orientation } from '../picture/orientation.ts';
import { seek, type VideoPart } from './parts.ts';
import { rungGraph } from '../picture/picture-filters.ts';
import { openTrack, type OpenTrack } from '../source/open-track.ts';
import { openDecoder, type Source } from '../source/source.ts';
import type { TaskMeter } from '../task-meter.ts';
import { isHeld } from './video-stage.ts';

const FRAMES_AHEAD = 4;
/** Finished parts per worker that may wait in memory for an earlier one. */
const PARTS_AHEAD = 2;

export type PartsStage = {
  readonly source: Source;
  readonly parts: readonly VideoPart[];
  /** Maximum number of concurrent parts; each uses one thread to decode and one to encode. */
  readonly threads: number;
  readonly rung: VideoRung;
  readonly output: HlsOutput;
  /** The encoder whose parameters are in the output's header. */
  readonly announced: CodecContext;
  readonly orientation: Orientation;
  readonly maxSeconds: number;
  readonly meter: TaskMeter;
  readonly coverage: Coverage;
  /** See `VideoStage`. */
  readonly audioEnd: Promise<number>;
  /** Receives the decoded pictures of the first part and frees them. */
  readonly watchFrames?: (frames: AsyncIterable<Frame>) => Promise<void>;
};

/** Encodes the parts of a video in parallel and writes them in order. */
export async function runParts(stage: PartsStage): Promise<void> {
  const { parts, source } = stage;
  const workers = Math.min(stage.threads, parts.length);
  const writer = new PartWriter(stage.output, workers * PARTS_AHEAD);
  const progress = new Progress(stage);
  const waiting = [...parts];
  const worker = async (): Promise<void> => {
    await using pictures = await openTrack(source, 'video');
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      await writer.room(part);
      await writer.take(part, await encodePart(part, pictures, stage, progress));
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
}

/** Aggregates the frames of all parts into one progress value. */
class Progress {
  readonly #meter: TaskMeter;
  readonly #secondsPerFrame: number;
  #frames = 0;

  constructor({ meter, rung }: PartsStage) {
    this.#meter = meter;
    this.#secondsPerFrame = rung.frameRate.den / rung.frameRate.num;
  }

  encoded(): void {
    this.#frames += 1;
    this.#meter.reachedTime(this.#frames * this.#secondsPerFrame);
  }

  decoded(): void {
    this.#meter.addWork();
  }
}

class PartWriter {
  readonly #output: HlsOutput;
  readonly #maxAhead: number;
  readonly #ready = new Map<number, readonly Packet[]>();
  #next = 0;
  #isWriting = false;
  #wake: (() => void)[] = [];

  constructor(output: HlsOutput, maxAhead: number) {
    this.#output = output;
    this.#maxAhead = maxAhead;
  }

  /** Resolves once a part is close enough to the next one to be written. */
  async room({ index }: VideoPart): Promise<void> {
    while (index - this.#next >= this.#maxAhead) {
      await new Promise<void>((resolve) => {
        this.#wake.push(resolve);
      });
    }
  }

  /**
   * Writes a part and any parts that were waiting for it, or queues it if an earlier part is
   * missing.
   */
  async take({ index }: VideoPart, packets: readonly Packet[]): Promise<void> {
    this.#ready.set(index, packets);
    if (this.#isWriting) return;
    this.#isWriting = true;
    for (let part = this.#takeNext(); part !== undefined; part = this.#takeNext()) {
      for (const packet of part) await this.#output.writeVideo(packet);
    }
    this.#isWriting = false;
  }

  #takeNext(): readonly Packet[] | undefined {
    const part = this.#ready.get(this.#next);
    if (part === undefined) return undefined;
    this.#ready.delete(this.#next);
    this.#next += 1;
    for (const wake of this.#wake.splice(0)) wake();
    return part;
  }
}

async function encodePart(
  part: VideoPart,
  pictures: OpenTrack,
  stage: PartsStage,
  progress: Progress,
): Promise<Packet[]> {
  const encoder = await openVideoEncoder(stage.rung, 1);
  checkParameters(encoder, stage.announced);
  const { leadFrames } = stage.output.segments;
  const packets: Packet[] = [];
  for await (const frame of partFrames(part, pictures, stage, progress)) {
    const isKey = part.index === 0 && leadFrames > 0 && frame.pts === BigInt(leadFrames);
    for await (const packet of encode(encoder, frame, isKey)) packets.push(packet);
    frame.free();
    progress.encoded();
  }
  for await (const packet of encode(encoder, null)) packets.push(packet);
  encoder.freeContext();
  return packets;
}

/** All parts share one initialization segment. */
function checkParameters(encoder: CodecContext, announced: CodecContext): void {
  const [own, common] = [encoder.extraData, announced.extraData];
  if (own === null || common === null || !own.equals(common)) {
    throw new Error('The encoder parameters of a part differ from those of the whole.');
  }
}

/** The pictures of a part, filtered for the encoder; the caller frees them. */
async function* partFrames(
  part: VideoPart,
  pictures: OpenTrack,
  stage: PartsStage,
  progress: Progress,
): AsyncGenerator<Frame> {
  const { orientation, rung } = stage;
  const timing = { timeBase: pictures.stream.stream.timeBase };
  const end = part.endFrame === null ? null : BigInt(part.endFrame);
  let graph: FrameGraph | null = null;
  const watched = new BoundedQueue<Frame>(FRAMES_AHEAD);
  const watching = part.index === 0 ? stage.watchFrames?.(watched) : undefined;
  // Awaited further down. A failure before then must not count as an unhandled rejection.
  watching?.catch(() => undefined);
  try {
    for await (const frame of decodePart(part, pictures, stage)) {
      graph ??= await FrameGraph.open(rungGraph(frame, timing, rung, orientation, part.startFrame));
      if (watching !== undefined) {
        // A failed watcher no longer drains its queue.
        await Promise.race([watched.push(required(frame.clone(), 'memory')), watching]);
      }
      // Otherwise the frame rate filter would attach them to pictures of this part.
      if (!isWithin(frame, part, timing, rung)) removeCaptions(frame);
      progress.decoded();
      for await (const output of graph.push(frame)) {
        if (end !== null && output.pts >= end) {
          output.free();
          frame.free();
          return;
        }
        yield output;
      }
      frame.free();
    }
    if (graph === null) return;
    for await (const output of graph.push(null)) {
      if (end === null || output.pts < end) yield output;
      else output.free();
    }
  } finally {
    watched.end();
    await watching;
    graph?.[Symbol.dispose]();
  }
}

/** Whether a frame belongs to a part, by the number that the frame rate filter assigns to it. */
function isWithin(
  { pts }: Frame,
  { endFrame, startFrame }: VideoPart,
  { timeBase }: { timeBase: { num: number; den: number } },
  { frameRate }: VideoRung,
): boolean {
  const seconds = (Number(pts) * timeBase.num) / timeBase.den;
  const place = Math.round((seconds * frameRate.num) / frameRate.den);
  return place >= startFrame && (endFrame === null || place < endFrame);
}

async function* picturePackets({ container, stream }: OpenTrack): AsyncGenerator<Packet> {
  for await (const packet of readPackets(container)) {
    if (packet.streamIndex === stream.stream.index) yield packet;
    else packet.free();
  }
}

/** Decodes from before a part to at least its end, and adds what it has seen to the coverage. */
async function* decodePart(
  { seekSeconds }: VideoPart,
  pictures: OpenTrack,
  stage: PartsStage,
): AsyncGenerator<Frame> {
  const { source, stream } = pictures;
  if (!(await seek(pictures, seekSeconds))) throw new Error('The source is not seekable.');
  const decoder = await openDecoder(stream, 1);
  const coverage = emptyCoverage();
  const options = { source, stream, decoder, maxSeconds: stage.maxSeconds, coverage };
  let last: Frame | null = null;
  try {
    for await (const frame of decode(picturePackets(pictures), options)) {
      last?.free();
      last = required(frame.clone(), 'memory');
      yield frame;
    }
    if (last !== null && (await isHeld(last, { ...stage, coverage, stream }))) {
      yield last;
      last = null;
    }
  } finally {
    last?.free();
    decoder.freeContext();
    const total = stage.coverage;
    total.packets += coverage.packets;
    total.failures += coverage.failures;
    total.frames += coverage.frames;
    total.hasClosedCaptions ||= coverage.hasClosedCaptions;
    total.endSeconds = Math.max(total.endSeconds, coverage.endSeconds);
  }
}
