import { type Conditions } from './conditions.ts';
import { Playback, type PlaybackSource } from './playback.ts';

/** The player of the active clip, the next one, and the previous one for a swipe back. */
const poolSize = 3;
/**
 * The next clip starts loading when the active one is this far ahead, or after the maximum wait.
 */
const comfortableSeconds = 4;
const longestWarmWaitMs = 3000;

export type Neighbours = {
  readonly previous: PlaybackSource | null;
  readonly active: PlaybackSource | null;
  readonly next: PlaybackSource | null;
};

/**
 * At most three players exist at any time, no matter how long the session, so memory and
 * connections stay flat. The active clip has the connection to itself until it is safe from
 * stalling.
 */
export class PlayerPool {
  readonly #conditions: Conditions;
  readonly #slots: Playback[];
  #activeId: string | null = null;
  #nextId: string | null = null;
  /** Clips to prepare once the active one plays. */
  #neighbours: readonly PlaybackSource[] = [];
  #warmTimer: ReturnType<typeof setInterval> | undefined;
  #suspended = false;

  constructor(conditions: Conditions, changed: (playback: Playback) => void) {
    this.#conditions = conditions;
    this.#slots = Array.from({ length: poolSize }, () => new Playback(this.#conditions, changed));
  }

  get muted(): boolean {
    return this.#conditions.muted;
  }

  /** Applies to all three elements during the viewer's tap, while the browser allows it. */
  setMuted(muted: boolean): void {
    this.#conditions.muted = muted;
    for (const slot of this.#slots) slot.video.muted = muted;
  }

  setVolume(volume: number): void {
    this.#conditions.volume = volume;
    for (const slot of this.#slots) slot.video.volume = volume;
  }

  get speed(): number {
    return this.#conditions.speed;
  }

  setSpeed(speed: number): void {
    this.#conditions.speed = speed;
    for (const { video } of this.#slots) {
      // The element's next clip starts at the default rate.
      video.defaultPlaybackRate = speed;
      video.playbackRate = speed;
    }
  }

  /** Nothing is loaded for other slides while the active clip waits for its first frame. */
  get mayPrepare(): boolean {
    const { active } = this;
    if (active === null) return true;
    if (active.state === 'playing') return active.video.currentTime > 0;
    return ['paused', 'blocked', 'failed'].includes(active.state);
  }

  /** The player of the active slide, or null if it has no video. */
  get active(): Playback | null {
    return this.#activeId === null ? null : this.#slotOf(this.#activeId);
  }

  /**
   * Assigns the players to the current place in the column. Players whose clip stays near are kept.
   */
  show({ previous, active, next }: Neighbours): void {
    const wanted = [active, next, previous].filter((source) => source !== null);
    for (const slot of this.#slots) {
      if (slot.id !== null && !wanted.some((source) => source.id === slot.id)) slot.release();
    }
    if (this.#activeId !== active?.id) this.active?.park();
    if (active !== null) this.#load(active);
    const isNewlyActive = this.#activeId !== (active?.id ?? null);
    this.#activeId = active?.id ?? null;
    this.#nextId = next?.id ?? null;
    if (isNewlyActive) this.active?.activate();
    this.#neighbours = [next, previous].filter((source) => source !== null);
    this.prepare();
    this.#warmNextSoon();
  }

  /**
   * Loads the playlists of the neighbours as soon as that takes no bandwidth away from the active
   * clip.
   */
  prepare(): void {
    if (!this.mayPrepare) return;
    for (const source of this.#neighbours) this.#load(source);
    this.#neighbours = [];
  }

  #load(source: PlaybackSource): void {
    if (this.#slotOf(source.id) === null) this.#slotOf(null)?.load(source);
  }

  togglePlay(): void {
    const playback = this.active;
    if (playback === null) return;
    if (playback.video.paused) playback.play();
    else playback.video.pause();
  }

  /** Pauses while the player is hidden. A clip that the viewer paused stays paused. */
  suspend(): void {
    const playback = this.active;
    if (playback === null || playback.video.paused) return;
    this.#suspended = true;
    playback.video.pause();
  }

  resume(): void {
    if (this.#suspended) this.active?.play();
    this.#suspended = false;
  }

  /** Releases all clips permanently. */
  close(): void {
    clearInterval(this.#warmTimer);
    this.#neighbours = [];
    for (const slot of this.#slots) slot.release();
  }

  /** Seeks by seconds, or to a fraction of the length. Does nothing until the length is known. */
  seekBy(seconds: number): void {
    const video = this.active?.video;
    if (video === undefined || !Number.isFinite(video.duration)) return;
    video.currentTime = Math.min(video.duration - 0.1, Math.max(0, video.currentTime + seconds));
  }

  seekTo(fraction: number): void {
    const video = this.active?.video;
    if (video === undefined || !Number.isFinite(video.duration)) return;
    video.currentTime = Math.min(video.duration - 0.05, fraction * video.duration);
  }

  /** Reloads a failed clip. */
  retry(source: PlaybackSource): void {
    const slot = this.#slotOf(source.id);
    if (slot === null) return;
    slot.load(source);
    if (source.id === this.#activeId) slot.activate();
  }

  /** The slot that holds a clip; with null, a free one. */
  #slotOf(id: string | null): Playback | null {
    return this.#slots.find((slot) => slot.id === id) ?? null;
  }

  #warmNextSoon(): void {
    clearInterval(this.#warmTimer);
    let startedAtMs: number | null = null;
    this.#warmTimer = setInterval(() => {
      if (!this.mayPrepare) return;
      startedAtMs ??= performance.now();
      if (performance.now() - startedAtMs < longestWarmWaitMs && !this.#isComfortable()) return;
      clearInterval(this.#warmTimer);
      if (this.#nextId !== null) this.#slotOf(this.#nextId)?.warm();
    }, 100);
  }

  #isComfortable(): boolean {
    const playback = this.active;
    if (playback === null) return true;
    const leftSeconds = playback.video.duration - playback.video.currentTime;
    return playback.bufferedAheadSeconds >= Math.min(comfortableSeconds, leftSeconds - 0.3);
  }
}
