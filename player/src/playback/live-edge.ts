import type HlsEngine from 'hls.js';
// Without `type` in front of every name, hls.js would be loaded with the element.
import type { HlsConfig } from 'hls.js';

/** A viewer this far from the live edge counts as behind. */
const behindSeconds = 4;
/** Native HLS only exposes the seekable range. */
const nativeHoldBackSeconds = 3;

/**
 * hls.js settings for broadcasts: play slightly faster until caught up, and wait for a publisher to
 * return. A playlist request is answered once the next part exists, so it may take a long time.
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

/** The live position of a broadcast, or null if unknown. */
export function latestPosition(hls: HlsEngine | null, video: HTMLVideoElement): number | null {
  if (hls !== null) return hls.liveSyncPosition;
  const { seekable } = video;
  return seekable.length === 0 ? null : seekable.end(seekable.length - 1) - nativeHoldBackSeconds;
}

export function isBehind(hls: HlsEngine | null, video: HTMLVideoElement): boolean {
  const latest = latestPosition(hls, video);
  return !video.ended && latest !== null && latest - video.currentTime > behindSeconds;
}
