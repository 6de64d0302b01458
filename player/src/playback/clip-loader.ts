import type HlsEngine from 'hls.js';
// Without `type` in front of them all, hls.js would be loaded with the element.
import type { ErrorData } from 'hls.js';
import { type PlaybackFailure } from '@reelfeed/client/playing';
import { type Conditions } from './conditions.ts';
import { describe } from './failure.ts';
import { startLevel } from './line.ts';
import { hlsConfig, playingBufferSeconds, waitingBufferSeconds } from './hls-config.ts';
import { canFeedVideo, loadHlsLibrary, usesNativeHls, type HlsLibrary } from './hls-library.ts';

export type ClipAddress = {
  /** Whether it is a broadcast, which plays at its live edge and does not loop. */
  readonly isBroadcast: boolean;
  /**
   * Returns the URL of the master playlist. Called on each load, because the URL of a protected
   * clip expires.
   */
  address(): Promise<string>;
};

/** The variant that is shown: its short side, such as `720p`, and its video codec. */
type Level = {
  readonly rendition: string;
  readonly codec: string | null;
};

type ClipEvents = {
  /** The element has its source and can be played. */
  opened(): void;
  /** Part of the clip has arrived. */
  arrived(): void;
  /** A request has failed and is being retried. */
  troubled(failure: PlaybackFailure): void;
  /** The clip cannot be played. */
  failed(failure: PlaybackFailure): void;
};

type LoaderParts = {
  readonly video: HTMLVideoElement;
  readonly conditions: Conditions;
  readonly events: ClipEvents;
};

/** Repairs of a broken decoder per clip before it counts as unplayable. */
const mediaRepairs = 2;

/**
 * Brings one clip into a video element, natively or through hls.js, and decides how much of it is
 * loaded. Without `warm` or `watch`, that is only its playlists.
 */
export class ClipLoader {
  readonly #clip: ClipAddress;
  readonly #parts: LoaderParts;
  #hls: HlsEngine | null = null;
  #isWatched = false;
  /** Whether hls.js has parsed the variants, so that one can be chosen. */
  #isParsed = false;
  #loadsFragments = false;
  #repairs = 0;
  /** Nothing is put into the element after a failure, or once the slot has moved on. */
  #hasStopped = false;

  constructor(clip: ClipAddress, parts: LoaderParts) {
    this.#clip = clip;
    this.#parts = parts;
  }

  /** Null until hls.js is loaded, and if the browser plays HLS natively. */
  get hls(): HlsEngine | null {
    return this.#hls;
  }

  /** Null while it is unknown, and if the browser plays HLS natively. */
  get level(): Level | null {
    const level = this.#hls?.levels[this.#hls.currentLevel];
    if (level === undefined) return null;
    const shortSide = Math.min(level.width, level.height);
    const rendition = shortSide > 0 ? `${shortSide}p` : 'audio';
    return { rendition, codec: level.videoCodec ?? null };
  }

  /** Requests the clip's address and loads it into the element, unless stopped meanwhile. */
  async open(): Promise<void> {
    const { video, events } = this.#parts;
    const isNative = usesNativeHls();
    if (!isNative && !canFeedVideo()) {
      events.failed({ code: 'NO_MEDIA_SOURCE', message: 'This browser cannot play HLS.' });
      return;
    }
    try {
      const library = isNative ? null : loadHlsLibrary();
      const [url, loaded] = await Promise.all([this.#clip.address(), library]);
      if (this.#hasStopped) return;
      if (loaded === null) {
        video.preload = 'auto';
        video.src = url;
      } else {
        this.#startHls(loaded, url);
      }
      events.opened();
    } catch (error) {
      if (!this.#hasStopped) events.failed(describe(error));
    }
  }

  /** Loads the first seconds, so that the clip starts immediately when its turn comes. */
  warm(): void {
    if (this.#loadsFragments) return;
    this.#loadsFragments = true;
    if (this.#isParsed) this.#hls?.startLoad(-1);
  }

  /** Loads as much as an active clip needs. */
  watch(): void {
    this.#isWatched = true;
    if (this.#hls !== null) this.#hls.config.maxBufferLength = playingBufferSeconds;
    this.warm();
  }

  /** Stops loading a clip that was watched until `warm` or `watch`. */
  park(): void {
    this.#isWatched = false;
    this.#hls?.stopLoad();
    this.#loadsFragments = false;
    if (this.#hls !== null) this.#hls.config.maxBufferLength = waitingBufferSeconds;
  }

  /** Stops loading a clip that has failed. */
  stop(): void {
    this.#hasStopped = true;
    this.#hls?.stopLoad();
  }

  /** Ends all connections. */
  close(): void {
    this.#hasStopped = true;
    this.#hls?.destroy();
    this.#hls = null;
  }

  #startHls({ default: Hls, ErrorTypes, Events }: HlsLibrary, url: string): void {
    const { video, conditions, events } = this.#parts;
    const hls = new Hls(hlsConfig(conditions, this.#clip.isBroadcast));
    hls.on(Events.ERROR, (_event, data) => {
      if (this.#hls !== hls) return;
      this.#onError(hls, data, data.type === ErrorTypes.MEDIA_ERROR);
    });
    hls.on(Events.FRAG_BUFFERED, () => {
      events.arrived();
      if (this.#isWatched) conditions.noteLine(hls.bandwidthEstimate);
    });
    const guessedBps = conditions.measuredBps === null ? conditions.guessLine() : null;
    hls.on(Events.MANIFEST_PARSED, (_event, { levels, firstLevel }) => {
      if (this.#hls !== hls) return;
      const bitrates = levels.map(({ bitrate }) => bitrate);
      if (guessedBps !== null) hls.startLevel = startLevel(bitrates, firstLevel, guessedBps);
      this.#isParsed = true;
      if (this.#loadsFragments) hls.startLoad(-1);
    });
    this.#hls = hls;
    hls.loadSource(url);
    hls.attachMedia(video);
    if (this.#isWatched) hls.config.maxBufferLength = playingBufferSeconds;
  }

  #onError(hls: HlsEngine, data: ErrorData, isMediaError: boolean): void {
    const { events } = this.#parts;
    const failure = { code: data.details, message: data.error.message };
    if (!data.fatal) {
      // A 503 means that the next part is late: the encoder is at fault, not the connection.
      const isWaiting = this.#clip.isBroadcast && data.response?.code === 503;
      if (!isMediaError && !isWaiting) events.troubled(failure);
      return;
    }
    // Before the playlist is parsed, a media error means that the browser lacks its codecs, which
    // cannot be repaired.
    if (isMediaError && this.#isParsed && this.#repairs < mediaRepairs) {
      this.#repairs += 1;
      hls.recoverMediaError();
      return;
    }
    events.failed(failure);
  }
}
