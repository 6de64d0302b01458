/**
 * The timeline of one connection. An encoder's timestamps may jump: its clock is set, it restarts
 * behind a relay, or it drops what it could not send. The timeline of the broadcast continues
 * without the jump, because a playlist and a recording cannot contain hours of nothing.
 *
 * 1. Times never decrease by more than `maxStepMs`, and never increase by more from one message to
 *    the next.
 * 2. A step counts as a jump only if it is one relative to the latest message of each track: audio
 *    continues between widely spaced pictures.
 * 3. Both tracks share one offset, so that a jump keeps them in sync.
 */

type TrackName = 'video' | 'audio';

/** A larger step is a jump. */
export const maxStepMs = 1_000;
/** Assumed duration of the last message before a jump: one typical picture. */
const afterJumpMs = 33;

export class EncoderClock {
  #timestamp: number;
  #timeMs: number;
  readonly #latest: Record<TrackName, number | null> = { video: null, audio: null };
  #jumps = 0;

  /** @param timeMs the time in the broadcast of the first timestamp */
  constructor(timestamp: number, timeMs: number) {
    this.#timestamp = timestamp;
    this.#timeMs = timeMs;
  }

  get jumps(): number {
    return this.#jumps;
  }

  /**
   * Returns the time in the broadcast in milliseconds. It may be slightly earlier than the previous
   * one of its track.
   */
  timeOf(track: TrackName, timestamp: number): number {
    const latest = [this.#latest.video, this.#latest.audio].filter((ms) => ms !== null);
    // Computes the difference of two 32-bit counters, which may have wrapped around.
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
