import type * as Hls from 'hls.js';

export type HlsLibrary = typeof Hls;

let loading: Promise<HlsLibrary> | undefined;

/**
 * hls.js is three quarters of the player and only needed if the browser can't play HLS natively, so
 * it is a separate file, fetched in parallel with the first page of the feed. A failed fetch is
 * retried by the next call.
 */
export function loadHlsLibrary(): Promise<HlsLibrary> {
  loading ??= import('hls.js').catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/** iPhones play HLS natively, and better than through their restricted media source. */
export function usesNativeHls(): boolean {
  const video = document.createElement('video');
  return !('MediaSource' in window) && video.canPlayType('application/vnd.apple.mpegurl') !== '';
}

/** Whether hls.js can work here: it needs one of the two media source APIs. */
export function canFeedVideo(): boolean {
  return 'MediaSource' in window || 'ManagedMediaSource' in window;
}
