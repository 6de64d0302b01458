/**
 * The time line of one connection. An encoder's timestamps may jump: its machine's clock is set, it
 * starts again behind a relay, or it drops what it could not send. The time line of the broadcast
 * goes on without the jump, because a playlist and a recording can't hold hours of nothing.
 *
 * 1. Times never fall by more than `maxStepMs`, and never rise by more from one message to the next.
 * 2. A step counts as a jump only if it is one from the latest message of each track: sound goes on
 *    beside pictures that are far apart.
 * 3. Both tracks share one offset, so that a jump does not part them.
 */

type TrackName = 'video' | 'audio';

/** A step of more than this is a jump. */
export const maxStepMs = 1_000;
/** How long the latest message before a jump lasts: a usual picture. */
const afterJumpMs = 33;

export class EncoderClock {
  /** A timestamp, and the time in the broadcast that it stands for. */
  #timestamp: number;
  #timeMs: number;
  readonly #latest: Record<TrackName, number | null> = { video: null, audio: null };
  #jumps = 0;

  /** @param timeMs the time in the broadcast of the first timestamp */
  constructor(timestamp: number, timeMs: number) {
    this.#timestamp = timestamp;
    this.#timeMs = timeMs;
  }

  /** How often the encoder's clock has jumped. */
  get jumps(): number {
    return this.#jumps;
  }

  /** The time in the broadcast, in milliseconds. It may be a little before the latest one of its track. */
  timeOf(track: TrackName, timestamp: number): number {
    const latest = [this.#latest.video, this.#latest.audio].filter((ms) => ms !== null);
    // The difference of two counters of 32 bits, which may have started again at 0.
    let timeMs = this.#timeMs + ((timestamp - this.#timestamp) | 0);
    if (latest.length > 0 && latest.every((ms) => Math.abs(timeMs - ms) > maxStepMs)) {
      this.#jumps += 1;
      timeMs = (this.#latest[track] ?? Math.max(...latest)) + afterJumpMs;
    }
    this.#timestamp = timestamp;
    this.#timeMs = timeMs;
    this.#latest[track] = timeMs;
    return timeMs;
  }
}
