import { type PlaybackFailure, type Sample } from '@reelfeed/client/playing';
import { ClipLoader, type ClipAddress } from './clip-loader.ts';
import { type Conditions } from './conditions.ts';
import { describe } from './failure.ts';
import { usesNativeHls } from './hls-library.ts';
import { isBehind, latestPosition } from './live-edge.ts';

/**
 * One video element and its source. A slot plays one slide after another:
 *
 *   empty ──load──▶ loading ──first frame──▶ playing ◀──▶ paused
 *                                            playing ◀──▶ buffering
 *                   any ──browser refuses to start──▶ blocked ──play──▶ playing
 *                   any ──fatal error──▶ failed ──load──▶ loading
 *   any ──release──▶ empty
 *
 * Only `load` and `release` leave `failed`: events that the element fires after a failure are
 * ignored.
 *
 * 1. The element stays the same for the slot's lifetime: browsers permit sound per element, and the
 *    permission given by the first tap must also apply to later clips.
 * 2. After `release`, no part of a slide is loaded or decoded.
 */
export type PlaybackState =
  | 'empty'
  | 'loading'
  | 'playing'
  | 'paused'
  | 'buffering'
  | 'blocked'
  | 'failed';

/** The view in which a slot renders. */
export type PlaybackView = {
  mount(video: HTMLVideoElement): void;
  showState(state: PlaybackState): void;
  /** A request for the clip has failed and is being retried, or a retry has succeeded. */
  showTrouble(isTrying: boolean): void;
  /** The watched broadcast has ended. */
  showEnded(): void;
};

export type PlaybackSource = ClipAddress & {
  readonly id: string;
  readonly view: PlaybackView;
};

/** A clip whose requests keep failing counts as unplayable after this time without a success. */
const longestTroubleMs = 6_000;

export class Playback {
  readonly video = document.createElement('video');
  readonly #conditions: Conditions;
  readonly #changed: (playback: Playback) => void;
  #source: PlaybackSource | null = null;
  #state: PlaybackState = 'empty';
  #loader: ClipLoader | null = null;
  #active = false;
  #failure: PlaybackFailure | null = null;
  #troubleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(conditions: Conditions, changed: (playback: Playback) => void) {
    this.#conditions = conditions;
    this.#changed = changed;
    this.video.playsInline = true;
    this.video.loop = true;
    this.video.disableRemotePlayback = !usesNativeHls();
    this.video.volume = conditions.volume;
    this.video.crossOrigin = 'anonymous';
    this.video.tabIndex = -1;
    this.#listen();
  }

  get id(): string | null {
    return this.#source?.id ?? null;
  }

  get state(): PlaybackState {
    return this.#state;
  }

  /** Null unless the state is `failed`; a new object for each failure. */
  get failure(): PlaybackFailure | null {
    return this.#state === 'failed' ? this.#failure : null;
  }

  /** The current playback state, for measuring watch time. */
  sample(atMs: number): Sample {
    const { video } = this;
    const level = this.#loader?.level;
    return {
      atMs,
      position: video.currentTime,
      length: video.duration,
      paused: video.paused,
      seeking: video.seeking,
      starved: video.readyState < HTMLMediaElement.HAVE_FUTURE_DATA,
      rendition: level?.rendition ?? null,
      codec: level?.codec ?? null,
    };
  }

  /** Prepares a slide by loading its playlists. Media is loaded only by `warm` or `activate`. */
  load(source: PlaybackSource): void {
    this.release();
    this.#source = source;
    this.video.loop = !source.isBroadcast;
    const loader = this.#makeLoader(source);
    this.#loader = loader;
    this.#enter('loading');
    try {
      source.view.mount(this.video);
    } catch (error) {
      this.#fail(describe(error));
      return;
    }
    void loader.open();
  }

  /** Loads the first seconds, so that the clip starts immediately when its turn comes. */
  warm(): void {
    this.#loader?.warm();
  }

  /** Makes this the active clip and plays it. */
  activate(): void {
    this.#active = true;
    this.#loader?.watch();
    if (this.isBroadcast) this.goToLatest();
    this.play();
  }

  /** Pauses and rewinds a clip that was watched, and stops loading it. */
  park(): void {
    if (!this.#active) return;
    this.#active = false;
    this.video.pause();
    if (!this.isBroadcast) this.video.currentTime = 0;
    this.#loader?.park();
  }

  get isBroadcast(): boolean {
    return this.#source?.isBroadcast === true;
  }

  /** Whether the viewer is behind the live edge of a broadcast. */
  get isBehind(): boolean {
    return this.isBroadcast && isBehind(this.#loader?.hls ?? null, this.video);
  }

  /** Jumps to the live edge of a broadcast. */
  goToLatest(): void {
    const latest = latestPosition(this.#loader?.hls ?? null, this.video);
    if (latest !== null && latest > this.video.currentTime) this.video.currentTime = latest;
  }

  play(): void {
    this.video.muted = this.#conditions.muted;
    void this.#start();
  }

  /** Releases the slide, its connections and its decoded pictures. */
  release(): void {
    this.#active = false;
    this.#endTrouble();
    this.#enter('empty');
    this.#source = null;
    this.#loader?.close();
    this.#loader = null;
    this.video.pause();
    this.video.removeAttribute('src');
    // Without this, browsers keep the decoder of the last source.
    this.video.load();
    this.video.remove();
  }

  /** Seconds that can be played from the current position without the network. */
  get bufferedAheadSeconds(): number {
    const { buffered, currentTime } = this.video;
    for (let range = 0; range < buffered.length; range += 1) {
      if (buffered.start(range) <= currentTime + 0.2 && buffered.end(range) > currentTime) {
        return buffered.end(range) - currentTime;
      }
    }
    return 0;
  }

  async #start(): Promise<void> {
    const source = this.#source;
    try {
      await this.video.play();
    } catch (error) {
      if (source === null || this.#source !== source || !this.#active) return;
      if (!(error instanceof DOMException) || error.name !== 'NotAllowedError') return;
      if (this.video.muted) {
        this.#enter('blocked');
        return;
      }
      // Sound was not allowed for this element. A silent clip is better than a stopped one.
      this.#conditions.muted = true;
      this.play();
    }
  }

  #makeLoader(source: PlaybackSource): ClipLoader {
    return new ClipLoader(source, {
      video: this.video,
      conditions: this.#conditions,
      events: {
        opened: () => {
          if (this.#active) this.play();
        },
        arrived: () => this.#endTrouble(),
        troubled: (failure) => this.#noteTrouble(failure),
        failed: (failure) => this.#fail(failure),
      },
    });
  }

  /**
   * Shows that the connection has trouble while the clip is stalled, and gives up if that lasts.
   */
  #noteTrouble(failure: PlaybackFailure): void {
    if (this.#state === 'failed' || this.bufferedAheadSeconds > 1) return;
    this.#source?.view.showTrouble(true);
    this.#troubleTimer ??= setTimeout(() => {
      this.#fail(failure);
    }, longestTroubleMs);
  }

  #endTrouble(): void {
    clearTimeout(this.#troubleTimer);
    this.#troubleTimer = undefined;
    this.#source?.view.showTrouble(false);
  }

  #listen(): void {
    const video = this.video;
    // Events are asynchronous, so the slot may already play another slide.
    video.addEventListener('playing', () => {
      if (this.#isWatched && !video.paused) this.#enter('playing');
    });
    video.addEventListener('waiting', () => {
      if (this.#isWatched && !video.paused) this.#enter('buffering');
    });
    video.addEventListener('pause', () => {
      if (this.#isWatched && video.paused) this.#enter('paused');
    });
    video.addEventListener('seeked', () => {
      if (this.#isWatched && !video.paused && video.readyState > 2) this.#enter('playing');
    });
    video.addEventListener('ended', () => {
      if (!this.isBroadcast) return;
      this.#source?.view.showEnded();
      this.#changed(this);
    });
    video.addEventListener('error', () => {
      // hls.js handles the error itself and may recover from it.
      if (this.#loader?.hls != null || this.#source === null) return;
      const { error } = video;
      this.#fail({ code: `MEDIA_${error?.code ?? 0}`, message: error?.message ?? '' });
    });
  }

  /** Whether the element's event belongs to the current clip, rather than to an earlier failure. */
  get #isWatched(): boolean {
    return this.#active && this.#state !== 'failed';
  }

  #fail(failure: PlaybackFailure): void {
    this.#endTrouble();
    this.#failure = failure;
    this.#loader?.stop();
    this.#enter('failed');
    this.video.pause();
  }

  #enter(state: PlaybackState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#source?.view.showState(state);
    this.#changed(this);
  }
}
