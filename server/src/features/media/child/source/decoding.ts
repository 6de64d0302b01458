import { Frame, Packet, type CodecContext, type FormatContext } from 'node-av/lib';
import {
  AVERROR_EAGAIN,
  AVERROR_ENOMEM,
  AVERROR_EOF,
  AVERROR_INVALIDDATA,
  AV_NOPTS_VALUE,
} from 'node-av/constants';
import { MediaError } from '../../media-error.ts';
import { captionPairs } from '../picture/closed-captions.ts';
import { check, EngineError, required } from '../engine/engine.ts';
import { DAMAGED, type Source, type SourceStream } from './source.ts';
import { RESTART_SECONDS, Shifter } from './survey.ts';
import type { TaskMeter } from '../task-meter.ts';

const MICROSECONDS = 1_000_000n;

/** The result of decoding one stream. */
export type Coverage = {
  packets: number;
  failures: number;
  frames: number;
  /** End of the last frame, in seconds from the start of the source. */
  endSeconds: number;
  /** Whether any frame carried CEA-608 captions. */
  hasClosedCaptions: boolean;
};

export function emptyCoverage(): Coverage {
  return { packets: 0, failures: 0, frames: 0, endSeconds: 0, hasClosedCaptions: false };
}

/** Errors that end reading. A forged packet length asks for more memory than there is. */
const ENDS: ReadonlySet<number> = new Set([AVERROR_EOF, AVERROR_INVALIDDATA, AVERROR_ENOMEM]);

/**
 * Reads packets to the end of a container; the caller frees them.
 *
 * A read error ends the stream like the end of the file: truncation is detected by what is missing
 * at the end, and players show what there is.
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

/** Reads the packets of one track from its start; the caller frees them. */
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

/** A frame's position on the source's timeline, in seconds. */
type Span = {
  readonly startSeconds: number;
  readonly endSeconds: number;
};

/** Maps a stream's clock to the source's common timeline. */
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
   * Moves a frame with this stream timestamp onto the timeline.
   *
   * Clock restarts are detected from the start of the previous frame, not its end: with reordered
   * pictures at a variable frame rate, a frame can report another frame's duration.
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
 * Decodes packets into frames with timestamps relative to the start of the source. Yielded frames
 * belong to the caller.
 *
 * A packet that cannot be decoded is counted and skipped, as a player would.
 * @throws {MediaError} TOO_LONG or CORRUPT_MEDIA when time exceeds `maxSeconds`, which also limits
 *   how much a forged timestamp can make later stages fill in
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
    // Only the last frame counts, and its end is capped at the container's duration. Otherwise a
    // forged frame duration would make later stages repeat it for days.
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
 * An empty packet repeats the previous picture; Theora stores unchanged pictures this way. A
 * decoder would take it for the end of the stream. Only a repeat at the very end needs a frame,
 * because later stages show each frame until the next one.
 */
function isRepeat(packet: Packet): boolean {
  return packet.size === 0 && packet.pts !== AV_NOPTS_VALUE;
}

function pastTheEnd(source: Source): MediaError {
  return source.declaredSeconds === null
    ? new MediaError('TOO_LONG', 'The recording is longer than allowed.')
    : new MediaError('CORRUPT_MEDIA', DAMAGED, {
        detail: 'a frame lies far beyond the declared end',
      });
}

/**
 * Returns false if the decoder rejected the data. Running out of memory throws instead, since it
 * says nothing about the data.
 */
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
