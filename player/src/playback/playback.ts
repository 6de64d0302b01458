import type HlsEngine from 'hls.js';
// Without `type` in front of them all, hls.js would be loaded with the element.
import type { ErrorData } from 'hls.js';
import { type PlaybackFailure, type Sample } from '@reelfeed/client/playing';
import { type Conditions } from './conditions.ts';
import { startLevel } from './line.ts';
import { hlsConfig, playingBufferSeconds, waitingBufferSeconds } from './hls-config.ts';
import { isBehind, latestPosition } from './live-edge.ts';
import { canFeedVideo, loadHlsLibrary, usesNativeHls, type HlsLibrary } from './hls-library.ts';

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

export type PlaybackSource = {
  readonly id: string;
  /** Whether it is a broadcast, which plays at its live edge and does not loop. */
  readonly isBroadcast: boolean;
  /**
   * Returns the URL of the master playlist. Called on each load, because the URL of a protected
   * clip expires.
   */
  address(): Promise<string>;
  readonly view: PlaybackView;
};

/** The variant that is shown: its short side, such as `720p`, and its video codec. */
export type PlaybackLevel = {
  readonly rendition: string;
  readonly codec: string | null;
};

/** A clip whose requests keep failing counts as unplayable after this time without a success. */
const longestTroubleMs = 6_000;
/** Repairs of a broken decoder per clip before it counts as unplayable. */
const mediaRepairs = 2;

export class Playback {
  readonly video = document.createElement('video');
  readonly #conditions: Conditions;
  readonly #changed: (playback: Playback) => void;
  #source: PlaybackSource | null = null;
  #state: PlaybackState = 'empty';
  #hls: HlsEngine | null = null;
  #active = false;
  /** Whether hls.js has parsed the variants, so that one can be chosen. */
  #isParsed = false;
  #loadsFragments = false;
  #repairs = 0;
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

  /** Null while it is unknown, and if the browser plays HLS natively. */
  get level(): PlaybackLevel | null {
    const level = this.#hls?.levels[this.#hls.currentLevel];
    if (level === undefined) return null;
    const shortSide = Math.min(level.width, level.height);
    const rendition = shortSide > 0 ? `${shortSide}p` : 'audio';
    return { rendition, codec: level.videoCodec ?? null };
  }

  /** The current playback state, for measuring watch time. */
  sample(atMs: number): Sample {
    const { video, level } = this;
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
    this.#repairs = 0;
    this.video.loop = !source.isBroadcast;
    this.#enter('loading');
    try {
      source.view.mount(this.video);
    } catch (error) {
      this.#failBy(error);
      return;
    }
    void this.#open(source);
  }

  /** Loads the first seconds, so that the clip starts immediately when its turn comes. */
  warm(): void {
    if (this.#loadsFragments) return;
    this.#loadsFragments = true;
    if (this.#isParsed) this.#hls?.startLoad(-1);
  }

  /** Makes this the active clip and plays it. */
  activate(): void {
    this.#active = true;
    if (this.#hls !== null) this.#hls.config.maxBufferLength = playingBufferSeconds;
    this.warm();
    if (this.isBroadcast) this.goToLatest();
    this.play();
  }

  /** Pauses and rewinds a clip that was watched, and stops loading it. */
  park(): void {
    if (!this.#active) return;
    this.#active = false;
    this.video.pause();
    if (!this.isBroadcast) this.video.currentTime = 0;
    this.#hls?.stopLoad();
    this.#loadsFragments = false;
    if (this.#hls !== null) this.#hls.config.maxBufferLength = waitingBufferSeconds;
  }

  get isBroadcast(): boolean {
    return this.#source?.isBroadcast === true;
  }

  /** Whether the viewer is behind the live edge of a broadcast. */
  get isBehind(): boolean {
    return this.isBroadcast && isBehind(this.#hls, this.video);
  }

  /** Jumps to the live edge of a broadcast. */
  goToLatest(): void {
    const latest = latestPosition(this.#hls, this.video);
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
    this.#loadsFragments = false;
    this.#hls?.destroy();
    this.#hls = null;
    this.#isParsed = false;
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

  /** Requests the clip's address and loads it into the element, unless the slot has moved on. */
  async #open(source: PlaybackSource): Promise<void> {
    const isCurrent = (): boolean => this.#source === source && this.#state !== 'failed';
    const isNative = usesNativeHls();
    if (!isNative && !canFeedVideo()) {
      this.#fail('NO_MEDIA_SOURCE', 'This browser cannot play HLS.');
      return;
    }
    try {
      const library = isNative ? null : loadHlsLibrary();
      const [url, loaded] = await Promise.all([source.address(), library]);
      if (!isCurrent()) return;
      if (loaded === null) {
        this.video.preload = 'auto';
        this.video.src = url;
      } else {
        this.#startHls(loaded, url);
      }
      if (this.#active) this.play();
    } catch (error) {
      if (!isCurrent()) return;
      this.#failBy(error);
    }
  }

  #startHls({ default: Hls, ErrorTypes, Events }: HlsLibrary, url: string): void {
    const hls = new Hls(hlsConfig(this.#conditions, this.isBroadcast));
    hls.on(Events.ERROR, (_event, data) => {
      if (this.#hls !== hls) return;
      this.#onHlsError(hls, data, data.type === ErrorTypes.MEDIA_ERROR);
    });
    hls.on(Events.FRAG_BUFFERED, () => {
      this.#endTrouble();
      if (this.#active) this.#conditions.noteLine(hls.bandwidthEstimate);
    });
    const guessedBps = this.#conditions.measuredBps === null ? this.#conditions.guessLine() : null;
    hls.on(Events.MANIFEST_PARSED, (_event, { levels, firstLevel }) => {
      if (this.#hls !== hls) return;
      const bitrates = levels.map(({ bitrate }) => bitrate);
      if (guessedBps !== null) hls.startLevel = startLevel(bitrates, firstLevel, guessedBps);
      this.#isParsed = true;
      if (this.#loadsFragments) hls.startLoad(-1);
    });
    this.#hls = hls;
    hls.loadSource(url);
    hls.attachMedia(this.video);
    if (this.#active) hls.config.maxBufferLength = playingBufferSeconds;
  }

  #onHlsError(hls: HlsEngine, data: ErrorData, isMediaError: boolean): void {
    if (!data.fatal) {
      // A 503 means that the next part is late: the encoder is at fault, not the connection.
      const isWaiting = this.isBroadcast && data.response?.code === 503;
      if (!isMediaError && !isWaiting) this.#noteTrouble(data);
      return;
    }
    // Before the playlist is parsed, a media error means that the browser lacks its codecs, which
    // cannot be repaired.
    if (isMediaError && this.#isParsed && this.#repairs < mediaRepairs) {
      this.#repairs += 1;
      hls.recoverMediaError();
      return;
    }
    this.#fail(data.details, data.error.message);
  }

  /**
   * Shows that the connection has trouble while the clip is stalled, and gives up if that lasts.
   */
  #noteTrouble(data: ErrorData): void {
    if (this.#state === 'failed' || this.bufferedAheadSeconds > 1) return;
    this.#source?.view.showTrouble(true);
    this.#troubleTimer ??= setTimeout(() => {
      this.#fail(data.details, data.error.message);
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
      if (this.#hls !== null || this.#source === null) return;
      this.#fail(`MEDIA_${video.error?.code ?? 0}`, video.error?.message ?? '');
    });
  }

  /** Whether the element's event belongs to the current clip, rather than to an earlier failure. */
  get #isWatched(): boolean {
    return this.#active && this.#state !== 'failed';
  }

  #failBy(error: unknown): void {
    const { code, message } = describe(error);
    this.#fail(code, message);
  }

  #fail(code: string, message: string): void {
    this.#endTrouble();
    this.#failure = { code, message };
    this.#hls?.stopLoad();
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

/**
 * Errors of the client have a code; others, such as a file that failed to load, are named by type.
 */
export function describe(error: unknown): PlaybackFailure {
  if (!(error instanceof Error)) return { code: 'UNKNOWN', message: 'The clip cannot be opened.' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return { code, message: error.message };
}
