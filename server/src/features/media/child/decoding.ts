import { Frame, Packet, type CodecContext, type FormatContext } from 'node-av/lib';
import {
  AVERROR_EAGAIN,
  AVERROR_ENOMEM,
  AVERROR_EOF,
  AVERROR_INVALIDDATA,
  AV_NOPTS_VALUE,
} from 'node-av/constants';
import { MediaError } from '../media-error.ts';
import { captionPairs } from './closed-captions.ts';
import { check, EngineError, required } from './engine.ts';
import { DAMAGED, type Source, type SourceStream } from './source.ts';
import { RESTART_SECONDS, Shifter } from './survey.ts';
import type { TaskMeter } from './task-meter.ts';

const MICROSECONDS = 1_000_000n;

/** What decoding found out about one stream. */
export type Coverage = {
  packets: number;
  failures: number;
  frames: number;
  /** Where the last frame ends, in seconds from the start of the source. */
  endSeconds: number;
  /** True once a frame carried a caption of CEA-608. */
  hasClosedCaptions: boolean;
};

export function emptyCoverage(): Coverage {
  return { packets: 0, failures: 0, frames: 0, endSeconds: 0, hasClosedCaptions: false };
}

/** How reading ends. A forged length of a packet asks for more memory than there is. */
const ENDS: ReadonlySet<number> = new Set([AVERROR_EOF, AVERROR_INVALIDDATA, AVERROR_ENOMEM]);

/**
 * Reads packets up to the end of a container; the caller frees them.
 *
 * A read error ends the stream like the end of the file does: a cut file is recognised by what is
 * missing at its end, and players show what there is.
 */
export async function* readPackets(container: FormatContext): AsyncGenerator<Packet> {
  for (;;) {
    const packet = new Packet();
    packet.alloc();
    const answer = await container.readFrame(packet);
    if (answer >= 0) {
      yield packet;
      continue;
    }
    packet.free();
    if (answer === AVERROR_EAGAIN) continue;
    if (!ENDS.has(answer)) check(answer, 'read packet');
    return;
  }
}

/** Reads the packets of one track of a source from its start; the caller frees them. */
export async function* trackPackets(
  container: FormatContext,
  { shifts, stream }: SourceStream,
  meter: Pick<TaskMeter, 'reachedByte'>,
): AsyncGenerator<Packet> {
  const shifter = new Shifter(shifts, stream.timeBase);
  for await (const packet of readPackets(container)) {
    meter.reachedByte(packet.pos);
    if (packet.streamIndex !== stream.index) {
      packet.free();
      continue;
    }
    shifter.place(packet);
    yield packet;
  }
}

/** Where a frame lies on the time line of its source, in seconds. */
type Span = {
  readonly startSeconds: number;
  readonly endSeconds: number;
};

/** The place of a stream's clock on the common time line of the source. */
class StreamClock {
  readonly #secondsPerTick: number;
  readonly #restartTicks: bigint;
  #startTicks: bigint;
  #lastTicks = 0n;
  #nextTicks = 0n;

  constructor(stream: SourceStream['stream'], startMicroseconds: bigint) {
    const { num, den } = stream.timeBase;
    this.#secondsPerTick = num / den;
    this.#restartTicks = BigInt(Math.ceil(RESTART_SECONDS / this.#secondsPerTick));
    this.#startTicks = (startMicroseconds * BigInt(den)) / (BigInt(num) * MICROSECONDS);
  }

  /**
   * Moves a frame of this time of the stream's clock onto the time line.
   *
   * A restart is judged by where the frame before started and not by where it ended: with pictures
   * stored out of order at a varying rate, a frame can claim the length of another one.
   */
  place(frame: Frame, time: bigint): Span {
    if (time !== AV_NOPTS_VALUE && time - this.#startTicks < this.#lastTicks - this.#restartTicks) {
      this.#startTicks = time - this.#nextTicks;
    }
    frame.pts = time === AV_NOPTS_VALUE ? this.#nextTicks : time - this.#startTicks;
    this.#lastTicks = frame.pts;
    this.#nextTicks = frame.pts + (frame.duration > 0n ? frame.duration : 0n);
    return {
      startSeconds: Number(this.#lastTicks) * this.#secondsPerTick,
      endSeconds: Number(this.#nextTicks) * this.#secondsPerTick,
    };
  }
}

type DecodeOptions = {
  readonly source: Source;
  readonly stream: SourceStream;
  readonly decoder: CodecContext;
  readonly maxSeconds: number;
  readonly coverage: Coverage;
};

/**
 * Decodes packets into frames whose timestamps count from the start of the source.
 *
 * A packet that cannot be decoded is counted and skipped, as a player would. Yielded frames belong
 * to the caller. Throws TOO_LONG or CORRUPT_MEDIA when time runs past `maxSeconds`, which also
 * bounds what a forged timestamp can make the later stages fill up.
 */
export async function* decode(
  packets: AsyncIterable<Packet>,
  options: DecodeOptions,
): AsyncGenerator<Frame> {
  const { coverage, decoder, source, stream, maxSeconds } = options;
  const clock = new StreamClock(stream.stream, source.startMicroseconds);
  let last: Frame | null = null;
  const place = (frame: Frame, time = frame.bestEffortTimestamp): Frame => {
    const { startSeconds, endSeconds } = clock.place(frame, time);
    if (startSeconds > maxSeconds) throw pastTheEnd(source);
    coverage.frames += 1;
    coverage.hasClosedCaptions ||= captionPairs(frame).length > 0;
    // The last frame alone decides, and it ends no later than the container says. A forged length
    // would have later stages repeat it for days.
    const declaredEnd = Math.min(source.declaredSeconds ?? maxSeconds, maxSeconds);
    coverage.endSeconds = Math.min(endSeconds, Math.max(declaredEnd, startSeconds));
    const { num, den } = stream.stream.timeBase;
    const seconds = coverage.endSeconds - startSeconds;
    if (endSeconds > coverage.endSeconds)
      frame.duration = BigInt(Math.round((seconds * den) / num));
    last?.free();
    last = required(frame.clone(), 'memory');
    return frame;
  };
  try {
    let repeatedAt: bigint | null = null;
    for await (const packet of packets) {
      coverage.packets += 1;
      repeatedAt = isRepeat(packet) ? packet.pts : null;
      const answer = repeatedAt === null ? await decoder.sendPacket(packet) : 0;
      packet.free();
      if (!isDecoded(answer)) coverage.failures += 1;
      for await (const frame of readyFrames(decoder, coverage)) yield place(frame);
    }
    await decoder.sendPacket(null);
    for await (const frame of readyFrames(decoder, coverage)) yield place(frame);
    const repeated: Frame | null = (last as Frame | null)?.clone() ?? null;
    if (repeated !== null && repeatedAt !== null) yield place(repeated, repeatedAt);
    else repeated?.free();
  } finally {
    // The consumer may stop early.
    (last as Frame | null)?.free();
  }
}

/**
 * An empty packet shows the picture before once more; Theora stores a picture without a change so.
 * To a decoder it would mean the end. Only a repeat at the very end makes a frame, since later stages
 * show each frame until the next one.
 */
function isRepeat(packet: Packet): boolean {
  return packet.size === 0 && packet.pts !== AV_NOPTS_VALUE;
}

function pastTheEnd(source: Source): MediaError {
  return source.declaredSeconds === null
    ? new MediaError('TOO_LONG', 'The recording is longer than allowed.')
    : new MediaError('CORRUPT_MEDIA', DAMAGED, {
        detail: 'a frame lies far behind the declared end',
      });
}

/** False where the decoder rejected bytes. Running out of memory says nothing about them. */
function isDecoded(answer: number): boolean {
  if (answer === AVERROR_ENOMEM) throw new EngineError('decode', answer);
  return answer >= 0 || answer === AVERROR_EOF || answer === AVERROR_EAGAIN;
}

async function* readyFrames(decoder: CodecContext, coverage: Coverage): AsyncGenerator<Frame> {
  for (;;) {
    const frame = new Frame();
    frame.alloc();
    const answer = await decoder.receiveFrame(frame);
    if (answer === 0) {
      yield frame;
      continue;
    }
    frame.free();
    if (answer === AVERROR_EAGAIN || answer === AVERROR_EOF) return;
    if (!isDecoded(answer)) coverage.failures += 1;
  }
}
