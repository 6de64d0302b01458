import HlsEngine, { ErrorTypes, Events, type ErrorData, type HlsConfig } from 'hls.js';

/**
 * One video element and what feeds it. A slot is filled with one slide after the other:
 *
 *   empty ──load──▶ loading ──first frame──▶ playing ◀──▶ paused
 *                                            playing ◀──▶ buffering
 *                   any ──browser refuses to start──▶ blocked ──play──▶ playing
 *                   any ──fatal error──▶ failed ──load──▶ loading
 *   any ──release──▶ empty
 *
 * 1. The element is the same for the slot's whole life: browsers allow sound per element, and
 *    the allowance that the first tap gave must hold for the next clips.
 * 2. Nothing of a slide is loaded or decoded after `release`.
 */
export type PlaybackState =
  | 'empty'
  | 'loading'
  | 'playing'
  | 'paused'
  | 'buffering'
  | 'blocked'
  | 'failed';

/** Where a slot shows itself. */
export interface PlaybackView {
  mount(video: HTMLVideoElement): void;
  showState(state: PlaybackState): void;
}

export interface PlaybackSource {
  readonly id: string;
  readonly streamingUrl: string;
  readonly view: PlaybackView;
}

/** Why a clip is in the state `failed`. */
export interface PlaybackFailure {
  readonly code: string;
  readonly message: string;
}

/** The variant that is shown: its short side, such as `720p`, and its video codec. */
export interface PlaybackLevel {
  readonly rendition: string;
  readonly codec: string | null;
}

/** What one clip learned about the line and the browser, for the clips after it. */
export interface SharedConditions {
  bandwidthBps: number | null;
  muted: boolean;
}

/** Seconds that the playing clip and a clip that waits for its turn load ahead. */
const playingBufferSeconds = 12;
const waitingBufferSeconds = 4;
/** Repairs of a broken decoder per clip before it counts as unplayable. */
const mediaRepairs = 2;

export class Playback {
  readonly video = document.createElement('video');
  readonly #conditions: SharedConditions;
  readonly #changed: (playback: Playback) => void;
  #source: PlaybackSource | null = null;
  #state: PlaybackState = 'empty';
  #hls: HlsEngine | null = null;
  #active = false;
  #loadsFragments = false;
  #repairs = 0;
  #failure: PlaybackFailure | null = null;

  constructor(conditions: SharedConditions, changed: (playback: Playback) => void) {
    this.#conditions = conditions;
    this.#changed = changed;
    this.video.playsInline = true;
    this.video.loop = true;
    this.video.disableRemotePlayback = true;
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

  /** Null unless the state is `failed`; another object for each failure. */
  get failure(): PlaybackFailure | null {
    return this.#state === 'failed' ? this.#failure : null;
  }

  /** Null while it is unknown, and where the browser plays HLS by itself. */
  get level(): PlaybackLevel | null {
    const level = this.#hls?.levels[this.#hls.currentLevel];
    if (level === undefined) return null;
    const shortSide = Math.min(level.width, level.height);
    const rendition = shortSide > 0 ? `${shortSide}p` : 'audio';
    return { rendition, codec: level.videoCodec ?? null };
  }

  /** Prepares a slide: its playlists, and no picture before `warm` or `activate`. */
  load(source: PlaybackSource): void {
    this.release();
    this.#source = source;
    this.#repairs = 0;
    source.view.mount(this.video);
    this.#enter('loading');
    if (usesNativeHls(this.video)) {
      this.video.preload = 'auto';
      this.video.src = source.streamingUrl;
    } else if (canFeedVideo()) {
      this.#startHls(source.streamingUrl);
    } else {
      this.#fail('NO_MEDIA_SOURCE', 'This browser plays no HLS.');
    }
  }

  /** Loads the first seconds, so that the clip starts at once when its turn comes. */
  warm(): void {
    if (this.#hls === null || this.#loadsFragments) return;
    this.#hls.startLoad(-1);
    this.#loadsFragments = true;
  }

  /** Makes this the clip that is watched. */
  activate(): void {
    this.#active = true;
    if (this.#hls !== null) this.#hls.config.maxBufferLength = playingBufferSeconds;
    this.warm();
    this.play();
  }

  /** Keeps a clip that was watched, at its beginning, without loading more of it. */
  park(): void {
    if (!this.#active) return;
    this.#active = false;
    this.video.pause();
    this.video.currentTime = 0;
    this.#hls?.stopLoad();
    this.#loadsFragments = false;
    if (this.#hls !== null) this.#hls.config.maxBufferLength = waitingBufferSeconds;
  }

  play(): void {
    this.video.muted = this.#conditions.muted;
    void this.#start();
  }

  /** Lets go of the slide, its connections and its decoded pictures. */
  release(): void {
    this.#active = false;
    this.#enter('empty');
    this.#source = null;
    this.#loadsFragments = false;
    this.#hls?.destroy();
    this.#hls = null;
    this.video.pause();
    this.video.removeAttribute('src');
    // Without it browsers keep the decoder of the last source.
    this.video.load();
    this.video.remove();
  }

  /** Seconds that can be played on from here without the network. */
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
      // Sound was not allowed for this element: a silent clip is better than a stopped one.
      this.#conditions.muted = true;
      this.play();
    }
  }

  #startHls(url: string): void {
    const hls = new HlsEngine(this.#hlsConfig());
    hls.on(Events.ERROR, (_event, data) => this.#onHlsError(hls, data));
    hls.on(Events.FRAG_BUFFERED, () => {
      if (this.#active) this.#conditions.bandwidthBps = hls.bandwidthEstimate;
    });
    hls.loadSource(url);
    hls.attachMedia(this.video);
    this.#hls = hls;
  }

  /** Without a measured line the first variant of the playlist starts, as the service orders it. */
  #hlsConfig(): Partial<HlsConfig> {
    const { bandwidthBps } = this.#conditions;
    const measured =
      bandwidthBps === null ? {} : { startLevel: -1, abrEwmaDefaultEstimate: bandwidthBps };
    return {
      ...measured,
      autoStartLoad: false,
      startFragPrefetch: true,
      testBandwidth: false,
      capLevelToPlayerSize: true,
      maxBufferLength: waitingBufferSeconds,
      maxMaxBufferLength: 30,
      maxBufferSize: 20_000_000,
      // Short clips loop; what has been played is kept so that a loop needs no network.
      backBufferLength: 20,
    };
  }

  #onHlsError(hls: HlsEngine, data: ErrorData): void {
    if (!data.fatal || this.#hls !== hls) return;
    if (data.type === ErrorTypes.MEDIA_ERROR && this.#repairs < mediaRepairs) {
      this.#repairs += 1;
      hls.recoverMediaError();
      return;
    }
    this.#fail(data.details, data.error.message);
  }

  #listen(): void {
    const video = this.video;
    // Events come later than what caused them; by then the slot may serve another slide.
    video.addEventListener('playing', () => {
      if (this.#active && !video.paused) this.#enter('playing');
    });
    video.addEventListener('waiting', () => {
      if (this.#active && !video.paused) this.#enter('buffering');
    });
    video.addEventListener('pause', () => {
      if (this.#active && video.paused && this.#state !== 'failed') this.#enter('paused');
    });
    video.addEventListener('seeked', () => {
      if (this.#active && !video.paused && video.readyState > 2) this.#enter('playing');
    });
    video.addEventListener('error', () => {
      // With hls.js the library sees the error first and may repair it.
      if (this.#hls !== null || this.#source === null) return;
      this.#fail(`MEDIA_${video.error?.code ?? 0}`, video.error?.message ?? '');
    });
  }

  #fail(code: string, message: string): void {
    this.#failure = { code, message };
    this.#enter('failed');
  }

  #enter(state: PlaybackState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#source?.view.showState(state);
    this.#changed(this);
  }
}

/** iPhones play HLS themselves, and better than through their restricted media source. */
function usesNativeHls(video: HTMLVideoElement): boolean {
  return !('MediaSource' in window) && video.canPlayType('application/vnd.apple.mpegurl') !== '';
}

/** Whether hls.js can work here: it needs one of the two ways to feed a video by script. */
function canFeedVideo(): boolean {
  return 'MediaSource' in window || 'ManagedMediaSource' in window;
}
