import type HlsEngine from 'hls.js';
// Without `type` in front of them all, hls.js would be loaded with the element.
import type { HlsConfig } from 'hls.js';

/** A viewer who is so far from the latest moment sees the past. */
const behindSeconds = 4;
/** Where the browser plays HLS by itself, it says only what can be reached. */
const nativeHoldBackSeconds = 3;

/**
 * What hls.js does otherwise for a broadcast: it plays a little faster until it has caught up, and it
 * waits for a publisher that comes back. A request for a playlist is answered when the next part is
 * there, so it may take long.
 */
export const broadcastConfig: Partial<HlsConfig> = {
  maxLiveSyncPlaybackRate: 1.1,
  playlistLoadPolicy: {
    default: {
      maxTimeToFirstByteMs: 40_000,
      maxLoadTimeMs: 60_000,
      timeoutRetry: { maxNumRetry: 5, retryDelayMs: 0, maxRetryDelayMs: 0 },
      errorRetry: { maxNumRetry: 1_800, retryDelayMs: 1_000, maxRetryDelayMs: 1_000 },
    },
  },
};

/** The position at which viewers of a broadcast should be now; null where it is unknown. */
export function latestPosition(hls: HlsEngine | null, video: HTMLVideoElement): number | null {
  if (hls !== null) return hls.liveSyncPosition;
  const { seekable } = video;
  return seekable.length === 0 ? null : seekable.end(seekable.length - 1) - nativeHoldBackSeconds;
}

export function isBehind(hls: HlsEngine | null, video: HTMLVideoElement): boolean {
  const latest = latestPosition(hls, video);
  return !video.ended && latest !== null && latest - video.currentTime > behindSeconds;
}
