import { type Sample } from '@reelfeed/client/playing';

/** The properties read from an `expo-video` player. Positions and durations are in seconds. */
export type ReadablePlayer = {
  readonly currentTime: number;
  /** 0 while unknown, and for live streams. */
  readonly duration: number;
  readonly isLive: boolean;
  readonly status: 'idle' | 'loading' | 'readyToPlay' | 'error';
  readonly videoTrack: {
    readonly size: { readonly width: number; readonly height: number };
  } | null;
};

/**
 * The player's current state, for the watch time meter.
 * @param isPaused whether playback is paused; a player waiting for data is not paused
 */
export function sampleOf(player: ReadablePlayer, isPaused: boolean, atMs: number): Sample {
  const { currentTime, duration, isLive, status, videoTrack } = player;
  const { width = 0, height = 0 } = videoTrack?.size ?? {};
  const shortSide = Math.min(width, height);
  return {
    atMs,
    position: currentTime,
    length: isLive ? Infinity : duration > 0 ? duration : Number.NaN,
    paused: isPaused,
    seeking: false,
    starved: status !== 'readyToPlay',
    rendition: shortSide > 0 ? `${shortSide}p` : null,
    codec: null,
  };
}
