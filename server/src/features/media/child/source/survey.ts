import { Packet, type FormatContext } from 'node-av/lib';
import { AVERROR_EAGAIN, AV_NOPTS_VALUE } from 'node-av/constants';
import type { ContainerFormat } from '../../sniff.ts';

/** A larger step back means that a new recording with a separate clock was appended. */
export const RESTART_SECONDS = 0.5;
/** A larger step forward means the same; the `ffmpeg` program uses this threshold too. */
const MAX_STEP_SECONDS = 10;
/** Containers without a file-wide clock, in which recordings can simply be concatenated. */
const APPENDABLE: ReadonlySet<ContainerFormat> = new Set(['mpegts', 'mpeg']);
/** Reading synchronously is many times faster; after this many packets, other work gets a turn. */
const PACKETS_PER_TURN = 500;

/** Extent of one track's packets, in seconds of the container's clock with its jumps removed. */
type Span = {
  packets: number;
  startSeconds: number;
  endSeconds: number;
  /** Offsets added to packet times, each from a packet number within the track onwards. */
  readonly shifts: Shift[];
};

export type Shift = { readonly fromPacket: number; readonly seconds: number };

/** Information about tracks, by index, gathered from a file's packets without decoding. */
export type Survey = {
  readonly spans: ReadonlyMap<number, Span>;
  readonly jumps: number;
  readonly endSeconds: number;
};

/** Finds the jumps of the clock that a file's tracks share. */
class Clock {
  readonly #timed: ReadonlySet<number>;
  readonly #tracks = new Map<number, { expectedSeconds: number; shift: number }>();
  #shift = 0;
  jumps = 0;

  constructor(timed: ReadonlySet<number>) {
    this.#timed = timed;
  }

  /** The offset to add to a packet's time. All times are in seconds. */
  place(track: number, dtsSeconds: number | null, length: number): number {
    const known = this.#tracks.get(track);
    if (dtsSeconds === null || !this.#timed.has(track)) return known?.shift ?? this.#shift;
    const stepWith = (shift: number): number =>
      known === undefined ? 0 : dtsSeconds + shift - known.expectedSeconds;
    let shift = this.#shift;
    // The last packets of one track before a jump may follow the first packet of another track
    // after it.
    if (known !== undefined && Math.abs(stepWith(known.shift)) < Math.abs(stepWith(shift))) {
      ({ shift } = known);
    }
    const step = stepWith(shift);
    if (step > MAX_STEP_SECONDS || step < -RESTART_SECONDS) {
      shift -= step;
      this.#shift = shift;
      this.jumps += 1;
    }
    this.#tracks.set(track, { expectedSeconds: dtsSeconds + shift + length, shift });
    return shift;
  }
}

type Timed = { readonly timed: ReadonlySet<number>; readonly container: ContainerFormat };

/**
 * Reads all packets of a container. `timed` are the tracks whose clocks count: if one of them
 * jumps, all tracks are shifted, so that video and audio stay in sync afterwards.
 */
export async function surveyPackets(
  container: FormatContext,
  { timed, container: format }: Timed,
  onTurn: () => void,
): Promise<Survey> {
  const spans = new Map<number, Span>();
  const secondsPerTick = container.streams.map(({ timeBase }) => timeBase.toDouble());
  const clock = new Clock(APPENDABLE.has(format) ? timed : new Set());
  const packet = new Packet();
  packet.alloc();
  for (let count = 1; ; count += 1) {
    if (count % PACKETS_PER_TURN === 0) {
      onTurn();
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    const answer = container.readFrameSync(packet);
    if (answer === AVERROR_EAGAIN) continue;
    if (answer < 0) break;
    const { dts, duration, pts, streamIndex } = packet;
    packet.unref();
    const tick = secondsPerTick[streamIndex] ?? container.streams[streamIndex]?.timeBase.toDouble();
    if (tick === undefined) continue;
    const length = Number(duration) * tick;
    const span = spans.get(streamIndex) ?? newSpan();
    spans.set(streamIndex, span);
    const placed = clock.place(
      streamIndex,
      dts === AV_NOPTS_VALUE ? null : Number(dts) * tick,
      length,
    );
    if (placed !== (span.shifts.at(-1)?.seconds ?? 0)) {
      span.shifts.push({ fromPacket: span.packets, seconds: placed });
    }
    span.packets += 1;
    const time = pts === AV_NOPTS_VALUE ? dts : pts;
    if (time === AV_NOPTS_VALUE) continue;
    const seconds = Number(time) * tick + placed;
    span.startSeconds = Math.min(span.startSeconds, seconds);
    span.endSeconds = Math.max(span.endSeconds, seconds + length);
  }
  packet.free();
  const endSeconds = Math.max(0, ...[...spans.values()].map((span) => span.endSeconds));
  return { spans, jumps: clock.jumps, endSeconds };
}

function newSpan(): Span {
  return { packets: 0, startSeconds: Infinity, endSeconds: 0, shifts: [] };
}

/** Applies the shifts found by a survey to one track's packets, starting from its first packet. */
export class Shifter {
  readonly #shifts: readonly Shift[];
  readonly #ticksPerSecond: number;
  #packets = 0;
  #next = 0;
  #ticks = 0n;

  constructor(shifts: readonly Shift[], timeBase: { num: number; den: number }) {
    this.#shifts = shifts;
    this.#ticksPerSecond = timeBase.den / timeBase.num;
  }

  place(packet: Packet): void {
    const shift = this.#shifts[this.#next];
    if (shift !== undefined && this.#packets >= shift.fromPacket) {
      this.#ticks = BigInt(Math.round(shift.seconds * this.#ticksPerSecond));
      this.#next += 1;
    }
    this.#packets += 1;
    if (this.#ticks === 0n) return;
    if (packet.pts !== AV_NOPTS_VALUE) packet.pts += this.#ticks;
    if (packet.dts !== AV_NOPTS_VALUE) packet.dts += this.#ticks;
  }
}
