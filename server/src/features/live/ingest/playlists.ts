/**
 * The playlists of a broadcast (RFC 8216).
 *
 * 1. While a playlist changes, its target duration is constant and its sequence numbers never
 *    decrease (section 6.2.1). The live playlist therefore keeps its name and window when the
 *    broadcast ends, and the whole broadcast is a separate playlist.
 * 2. Some segments start without a key frame, so there is no EXT-X-INDEPENDENT-SEGMENTS.
 */
import type { Tracks } from './init-segment.ts';

export type ListedSegment = {
  readonly number: number;
  readonly fileName: string;
  readonly durationMs: number;
  readonly startedAt: Date;
  readonly isDiscontinuity: boolean;
  /** Determines the header file. */
  readonly format: number;
};

export type MediaPlaylist = {
  readonly segments: readonly ListedSegment[];
  readonly targetDurationSeconds: number;
  /** Number of discontinuities before the first listed segment. */
  readonly earlierDiscontinuities: number;
  readonly isEnded: boolean;
  /** Whether the playlist covers the whole broadcast. */
  readonly isWhole: boolean;
};

export const playlistFiles = {
  media: 'index.m3u8',
  whole: 'whole.m3u8',
  master: 'master.m3u8',
  init: (format: number) => (format === 0 ? 'init.mp4' : `init-${format}.mp4`),
} as const;

/** Minimum number of listed segments, about sixteen seconds. */
const minListedSegments = 8;
const usualSegmentSeconds = 2;

export function listedSegments(dvrWindowSeconds: number): number {
  return Math.max(minListedSegments, Math.ceil(dvrWindowSeconds / usualSegmentSeconds));
}

/** Target duration of a stream whose first segment has this length. */
export function targetDurationOf(firstSegmentMs: number): number {
  return Math.max(2, Math.round(firstSegmentMs / 1_000));
}

/** Maximum segment length for a target duration, since lengths are rounded (section 4.3.3.1). */
export function longestSegmentMs(targetDurationSeconds: number): number {
  return targetDurationSeconds * 1_000 + 499;
}

export function mediaPlaylist(playlist: MediaPlaylist): string {
  const { segments, targetDurationSeconds, earlierDiscontinuities, isEnded, isWhole } = playlist;
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    `#EXT-X-TARGETDURATION:${targetDurationSeconds}`,
    `#EXT-X-MEDIA-SEQUENCE:${segments[0]?.number ?? 0}`,
    `#EXT-X-DISCONTINUITY-SEQUENCE:${earlierDiscontinuities}`,
    ...(isWhole ? [`#EXT-X-PLAYLIST-TYPE:${isEnded ? 'VOD' : 'EVENT'}`] : []),
  ];
  let format: number | null = null;
  for (const segment of segments) {
    const { durationMs, fileName, startedAt, isDiscontinuity } = segment;
    if (isDiscontinuity) lines.push('#EXT-X-DISCONTINUITY');
    if (segment.format !== format) {
      lines.push(`#EXT-X-MAP:URI="${playlistFiles.init(segment.format)}"`);
    }
    format = segment.format;
    lines.push(`#EXT-X-PROGRAM-DATE-TIME:${startedAt.toISOString()}`);
    lines.push(`#EXTINF:${(durationMs / 1_000).toFixed(3)},`, fileName);
  }
  if (isEnded) lines.push('#EXT-X-ENDLIST');
  return `${lines.join('\n')}\n`;
}

/**
 * The peak bit rate is estimated from the first segment, because the rest has not been sent yet.
 */
const peakFactor = 1.5;

export type Rate = { readonly bits: number; readonly ms: number };

/** @param rungs the lines of the smaller renditions */
export function broadcastMasterPlaylist(
  { video, audio }: Tracks,
  rate: Rate,
  playlist: string = playlistFiles.media,
  rungs: readonly string[] = [],
): string {
  const average = Math.ceil((rate.bits * 1_000) / Math.max(1, rate.ms));
  const codecs = [video, audio].filter((track) => track !== null).map(({ codec }) => codec);
  const attributes = [
    `BANDWIDTH=${Math.ceil(average * peakFactor)}`,
    `AVERAGE-BANDWIDTH=${average}`,
    `CODECS="${codecs.join(',')}"`,
    ...(video === null ? [] : [`RESOLUTION=${video.width}x${video.height}`]),
  ];
  return [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    `#EXT-X-STREAM-INF:${attributes.join(',')}`,
    playlist,
    ...rungs,
    '',
  ].join('\n');
}
