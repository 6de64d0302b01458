import { type EngagementEvent } from '../events.ts';

/** A snapshot of the player. Positions and lengths are in seconds. */
export type Sample = {
  readonly atMs: number;
  readonly position: number;
  /** Not finite while unknown, and for live streams. */
  readonly length: number;
  readonly paused: boolean;
  readonly seeking: boolean;
  /** Whether nothing can be shown at this position yet. */
  readonly starved: boolean;
  readonly rendition: string | null;
  readonly codec: string | null;
};

/** Watched seconds between two progress events. */
const progressSeconds = 5;
/** A shorter stop is just a late frame, which nobody notices. */
const shortestStallMs = 100;
/** Maximum lead of a position over the clock between two samples of smooth playback. */
const clockSlackSeconds = 0.25;

/**
 * Measures one view of a clip from many samples per second, and reports its events: start,
 * progress, stalls, quality changes, and the first time the end was reached.
 *
 * 1. Watch time counts what was played, at the speed of the clock; seeking adds nothing.
 * 2. Waiting after a seek or before the first frame is not a stall.
 * 3. A clip plays in a loop. The first end is reported as a completion immediately; later loops are
 *    reported by one more completion, flagged as looped, when viewing ends.
 */
export class ViewMeter {
  readonly contentId: string;
  readonly viewId: string;
  readonly #track: (event: EngagementEvent) => void;
  #last: Sample | null = null;
  #wantedAtMs: number | null = null;
  #hasBeenPaused = false;
  #hasStarted = false;
  /** Number of times the end was reached, in total and as of the last report. */
  #ends = 0;
  #toldEnds = 0;
  #watched = 0;
  #reported = 0;
  #furthest = 0;
  #stalledAtMs: number | null = null;
  #rendition: string | null = null;

  constructor(contentId: string, viewId: string, track: (event: EngagementEvent) => void) {
    this.contentId = contentId;
    this.viewId = viewId;
    this.#track = track;
  }

  /** Seconds played so far. */
  get watchTime(): number {
    return rounded(this.#watched);
  }

  /** Processes a sample. */
  take(sample: Sample): void {
    const last = this.#last;
    this.#last = sample;
    this.#noteStart(sample);
    if (last === null) return;
    const played = playedBetween(last, sample);
    if (played !== null) this.#play(sample, played);
    this.#noteStall(sample, played !== null);
    this.#noteQuality(sample);
  }

  /** Viewing has paused or ended: reports everything outstanding. */
  pause(nowMs: number): void {
    this.#endStall(nowMs);
    if (this.#watched > this.#reported) this.#reportProgress();
    if (this.#ends > Math.max(1, this.#toldEnds)) this.#complete();
  }

  /** Reports that the clip could not be played or failed during playback. */
  fail(errorCode: string, errorMessage: string): void {
    const { contentId } = this;
    const data = { errorCode, errorMessage, viewId: this.viewId };
    this.#track({ event: 'error', contentId, data });
  }

  /**
   * Startup time runs while the player is asked to play; it stops if the viewer first has to press
   * a button.
   */
  #noteStart({ atMs, paused }: Sample): void {
    if (this.#hasStarted) return;
    this.#hasBeenPaused ||= paused;
    this.#wantedAtMs = paused ? null : (this.#wantedAtMs ?? atMs);
  }

  #play(sample: Sample, { seconds, loops }: Played): void {
    if (!this.#hasStarted) this.#start(sample);
    this.#watched += seconds;
    this.#furthest = Math.max(this.#furthest, loops ? sample.length : sample.position);
    if (loops) this.#ends += 1;
    if (loops && this.#ends === 1) {
      this.#reportProgress(sample.length);
      this.#complete();
    } else if (this.#watched - this.#reported >= progressSeconds) {
      this.#reportProgress();
    }
  }

  #start({ atMs, rendition, codec }: Sample): void {
    this.#hasStarted = true;
    const { contentId } = this;
    const data = {
      startupTime: Math.round(atMs - (this.#wantedAtMs ?? atMs)),
      autoplay: !this.#hasBeenPaused,
      viewId: this.viewId,
      ...(rendition !== null && { rendition }),
      ...(codec !== null && { codec }),
    };
    this.#track({ event: 'playStart', contentId, data });
  }

  #complete(): void {
    this.#toldEnds = this.#ends;
    const { contentId, watchTime } = this;
    const loopCount = this.#ends - 1;
    const data = { watchTime, looped: loopCount > 0, loopCount, viewId: this.viewId };
    this.#track({ event: 'completion', contentId, data });
  }

  #reportProgress(position = this.#last?.position ?? 0): void {
    this.#reported = this.#watched;
    const { contentId, watchTime } = this;
    const { length = Number.NaN } = this.#last ?? {};
    const duration = Number.isFinite(length) ? length : 0;
    const data = {
      currentTime: rounded(position),
      duration: rounded(duration),
      watchTime,
      viewId: this.viewId,
      ...(duration > 0 && {
        percentComplete: rounded(Math.min(100, (this.#furthest / duration) * 100)),
      }),
      ...(this.#rendition !== null && { rendition: this.#rendition }),
    };
    this.#track({ event: 'watchProgress', contentId, data });
  }

  #noteStall({ atMs, starved, paused, seeking }: Sample, moved: boolean): void {
    const stalls = this.#hasStarted && starved && !paused && !seeking && !moved;
    if (stalls) this.#stalledAtMs ??= atMs;
    else this.#endStall(atMs);
  }

  #endStall(nowMs: number): void {
    if (this.#stalledAtMs === null) return;
    const durationMs = Math.round(nowMs - this.#stalledAtMs);
    this.#stalledAtMs = null;
    if (durationMs < shortestStallMs) return;
    const { contentId } = this;
    const data = {
      duration: durationMs,
      currentTime: rounded(this.#last?.position ?? 0),
      viewId: this.viewId,
      ...(this.#rendition !== null && { rendition: this.#rendition }),
    };
    this.#track({ event: 'rebuffer', contentId, data });
  }

  #noteQuality({ rendition }: Sample): void {
    const before = this.#rendition;
    if (!this.#hasStarted || rendition === null || rendition === before) return;
    this.#rendition = rendition;
    if (before === null) return;
    const { contentId } = this;
    const data = { fromQuality: before, toQuality: rendition, viewId: this.viewId };
    this.#track({ event: 'qualityChange', contentId, data });
  }
}

type Played = {
  readonly seconds: number;
  /** Whether the end was passed. */
  readonly loops: boolean;
};

/** The stretch played between two samples, or null if the player was paused or seeked. */
function playedBetween(last: Sample, sample: Sample): Played | null {
  if (last.paused) return null;
  const maxSeconds = (sample.atMs - last.atMs) / 1_000 + clockSlackSeconds;
  const movedSeconds = sample.position - last.position;
  // The last frame may be slightly before the end.
  const roundSeconds = Math.max(0, last.length - last.position) + sample.position;
  if (movedSeconds < 0 && roundSeconds <= maxSeconds) return { seconds: roundSeconds, loops: true };
  const isPlayed = movedSeconds > 0 && movedSeconds <= maxSeconds && !sample.seeking;
  return isPlayed ? { seconds: movedSeconds, loops: false } : null;
}

/** Rounds to milliseconds; the service rejects negative values. */
function rounded(value: number): number {
  return Math.max(0, Math.round(value * 1_000) / 1_000);
}
