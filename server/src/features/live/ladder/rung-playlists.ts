/**
 * The playlists of a broadcast's rungs (RFC 8216). They share the top's numbers, durations and
 * discontinuities; a missing segment is a gap (RFC 8216bis, 4.4.4.7), at which players switch to
 * another rendition.
 */
import { reportLines, type RenditionReport } from './rendition-reports.ts';
import type { ListedRungSegment, LiveRung } from './rung-queries.ts';

export const rungFiles = {
  live: (rung: string) => `rung-${rung}.m3u8`,
  whole: (rung: string) => `rung-${rung}-whole.m3u8`,
} as const;

/** The rung of a live playlist's file name, or null for other files. */
export function rungOf(fileName: string): string | null {
  return /^rung-(\w+)\.m3u8$/.exec(fileName)?.[1] ?? null;
}

export type RungPlaylist = {
  readonly segments: readonly Omit<ListedRungSegment, 'sizeBytes'>[];
  readonly targetDurationSeconds: number;
  /** Number of discontinuities before the first listed segment. */
  readonly earlierDiscontinuities: number;
  readonly isEnded: boolean;
  readonly isWhole: boolean;
  /**
   * Reports about the other renditions, if players may wait for the next segment (RFC 8216bis,
   * 4.4.3.8).
   */
  readonly reports?: readonly RenditionReport[];
};

/** Placeholder name for gaps, because each segment must have a name. */
const gapName = 'gap.m4s';

export function rungPlaylist(playlist: RungPlaylist): string {
  const { segments, targetDurationSeconds, earlierDiscontinuities, isEnded, isWhole } = playlist;
  const { reports } = playlist;
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:8',
    `#EXT-X-TARGETDURATION:${targetDurationSeconds}`,
    ...(reports === undefined ? [] : [serverControl(targetDurationSeconds)]),
    `#EXT-X-MEDIA-SEQUENCE:${segments[0]?.number ?? 0}`,
    `#EXT-X-DISCONTINUITY-SEQUENCE:${earlierDiscontinuities}`,
    ...(isWhole ? ['#EXT-X-PLAYLIST-TYPE:VOD'] : []),
    // Every segment of a rung starts with a key frame.
    '#EXT-X-INDEPENDENT-SEGMENTS',
  ];
  let header: string | null = null;
  for (const { durationMs, fileName, headerName, isDiscontinuity, startedAt } of segments) {
    if (isDiscontinuity) lines.push('#EXT-X-DISCONTINUITY');
    if (headerName !== null && headerName !== header) {
      lines.push(`#EXT-X-MAP:URI="${headerName}"`);
      header = headerName;
    }
    if (fileName === null) lines.push('#EXT-X-GAP');
    lines.push(`#EXT-X-PROGRAM-DATE-TIME:${startedAt.toISOString()}`);
    lines.push(`#EXTINF:${(durationMs / 1_000).toFixed(3)},`, fileName ?? gapName);
  }
  lines.push(...reportLines(reports ?? []));
  if (isEnded) lines.push('#EXT-X-ENDLIST');
  return `${lines.join('\n')}\n`;
}

function serverControl(targetDurationSeconds: number): string {
  const holdBack = (3 * targetDurationSeconds).toFixed(3);
  return `#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,HOLD-BACK=${holdBack}`;
}

/** Factor for the peak of a rung, whose encoder may exceed its bit rate briefly, plus its audio. */
const peakFactor = 1.5;
const soundBps = 160_000;

export function rungLines(
  rungs: readonly LiveRung[],
  { audioCodec, isWhole = false }: { audioCodec: string | null; isWhole?: boolean },
): string[] {
  return rungs.flatMap(({ codec, height, maxBitrateBps, name, width }) => {
    const codecs = audioCodec === null ? codec : `${codec},${audioCodec}`;
    const bandwidth = maxBitrateBps * peakFactor + (audioCodec === null ? 0 : soundBps);
    return [
      `#EXT-X-STREAM-INF:BANDWIDTH=${bandwidth},CODECS="${codecs}",RESOLUTION=${width}x${height}`,
      isWhole ? rungFiles.whole(name) : rungFiles.live(name),
    ];
  });
}
