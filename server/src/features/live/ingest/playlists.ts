/** The playlists of a broadcast (RFC 8216). */
import type { Tracks } from './init-segment.ts';

export type ListedSegment = {
  readonly number: number;
  readonly fileName: string;
  readonly durationMs: number;
  readonly startedAt: Date;
  readonly isDiscontinuity: boolean;
};

export type MediaPlaylist = {
  readonly segments: readonly ListedSegment[];
  /** The longest segment of the whole stream, because the value must not fall while players read. */
  readonly longestSegmentMs: number;
  /** Discontinuities before the first segment that is listed. */
  readonly earlierDiscontinuities: number;
  readonly isEnded: boolean;
};

export const playlistFiles = { init: 'init.mp4', media: 'index.m3u8', master: 'master.m3u8' };

export function mediaPlaylist(playlist: MediaPlaylist): string {
  const { segments, longestSegmentMs, earlierDiscontinuities, isEnded } = playlist;
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    `#EXT-X-TARGETDURATION:${Math.max(1, Math.ceil(longestSegmentMs / 1_000))}`,
    `#EXT-X-MEDIA-SEQUENCE:${segments[0]?.number ?? 0}`,
    `#EXT-X-DISCONTINUITY-SEQUENCE:${earlierDiscontinuities}`,
    ...(isEnded ? ['#EXT-X-PLAYLIST-TYPE:VOD'] : []),
    '#EXT-X-INDEPENDENT-SEGMENTS',
    `#EXT-X-MAP:URI="${playlistFiles.init}"`,
  ];
  for (const { durationMs, fileName, startedAt, isDiscontinuity } of segments) {
    if (isDiscontinuity) lines.push('#EXT-X-DISCONTINUITY');
    lines.push(`#EXT-X-PROGRAM-DATE-TIME:${startedAt.toISOString()}`);
    lines.push(`#EXTINF:${(durationMs / 1_000).toFixed(3)},`, fileName);
  }
  if (isEnded) lines.push('#EXT-X-ENDLIST');
  return `${lines.join('\n')}\n`;
}

/** The peak is a guess from the first segment: what comes later is not known. */
const peakFactor = 1.5;

export function masterPlaylist(
  { video, audio }: Tracks,
  first: { bits: number; ms: number },
): string {
  const average = Math.ceil((first.bits * 1_000) / Math.max(1, first.ms));
  const attributes = [
    `BANDWIDTH=${Math.ceil(average * peakFactor)}`,
    `AVERAGE-BANDWIDTH=${average}`,
    `CODECS="${[video.codec, ...(audio === null ? [] : [audio.codec])].join(',')}"`,
    `RESOLUTION=${video.width}x${video.height}`,
  ];
  return [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    '#EXT-X-INDEPENDENT-SEGMENTS',
    `#EXT-X-STREAM-INF:${attributes.join(',')}`,
    playlistFiles.media,
    '',
  ].join('\n');
}
