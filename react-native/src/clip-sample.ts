import { type Sample } from '@reelfeed/client/playing';

/** The properties of an `expo-video` player that are read. Positions and durations are in seconds. */
export type ReadablePlayer = {
  readonly currentTime: number;
  /** 0 while it is unknown, and for live streams. */
  readonly duration: number;
  readonly isLive: boolean;
  readonly status: 'idle' | 'loading' | 'readyToPlay' | 'error';
  readonly videoTrack: {
    readonly size: { readonly width: number; readonly height: number };
  } | null;
};

/**
 * What a player shows now, for the meter of watch time.
 *
 * @param isPaused whether it is asked to pause; a player that waits for data is not paused
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
