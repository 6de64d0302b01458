/** Totals of a finished media playlist and its files. */
export type MediaPlaylistSummary = {
  readonly durationSeconds: number;
  readonly segmentCount: number;
  /** Size of the segments plus the initialization segment. */
  readonly sizeBytes: number;
  /** As computed by {@link peakOf}. */
  readonly peakBandwidthBps: number;
  readonly averageBandwidthBps: number;
};

export type PlaylistSegment = {
  readonly name: string;
  readonly durationSeconds: number;
};

export type ParsedPlaylist = {
  readonly segments: PlaylistSegment[];
  readonly initSegment: string | null;
};

const BITS = 8;

/** Parses the segments of a media playlist. Supports only what our own output contains. */
export function parseMediaPlaylist(text: string): ParsedPlaylist {
  const segments: PlaylistSegment[] = [];
  let durationSeconds: number | null = null;
  let initSegment: string | null = null;
  for (const line of text.split('\n')) {
    if (line.startsWith('#EXTINF:')) durationSeconds = Number.parseFloat(line.slice(8));
    if (line.startsWith('#EXT-X-MAP:')) initSegment = /URI="([^"]+)"/.exec(line)?.[1] ?? null;
    if (line === '' || line.startsWith('#') || durationSeconds === null) continue;
    segments.push({ name: line, durationSeconds });
    durationSeconds = null;
  }
  return { segments, initSegment };
}

/**
 * Raises a target duration of 0, which FFmpeg writes for clips under half a second: players reject
 * it, because RFC 8216, section 4.3.3.1 requires a positive integer.
 */
export function withTargetDuration(playlist: string): string {
  return playlist.replace(/^#EXT-X-TARGETDURATION:0$/m, '#EXT-X-TARGETDURATION:1');
}

type SizedSegment = { readonly bytes: number; readonly seconds: number };

/**
 * The peak segment bit rate (RFC 8216, section 4.1): the maximum over all runs of consecutive
 * segments that last 0.5 to 1.5 times the target duration. A shorter run counts only if there is no
 * other.
 */
function peakOf(segments: readonly SizedSegment[]): number {
  const target = Math.round(Math.max(0, ...segments.map(({ seconds }) => seconds)));
  let peak = 0;
  for (let first = 0; first < segments.length; first += 1) {
    let bytes = 0;
    let seconds = 0;
    for (let last = first; last < segments.length && seconds <= target * 1.5; last += 1) {
      bytes += segments[last]?.bytes ?? 0;
      seconds += segments[last]?.seconds ?? 0;
      const isCounted = seconds >= target * 0.5 || segments.length === 1;
      if (isCounted && seconds > 0 && seconds <= target * 1.5)
        peak = Math.max(peak, Math.ceil((bytes * BITS) / seconds));
    }
  }
  return peak;
}

/**
 * Upper limit on segment durations in a growing playlist, whose last segment absorbs a remainder
 * that is too short for its own. Players must not see this value change (RFC 8216, section
 * 4.3.3.1).
 */
function growingTarget(segments: readonly PlaylistSegment[]): number {
  return Math.round(Math.max(0, ...segments.slice(0, GROWING_MIN_SEGMENTS).map(secondsOf)) * 1.5);
}

const secondsOf = ({ durationSeconds }: PlaylistSegment): number => durationSeconds;

/** A growing playlist is published once it has this many segments. */
export const GROWING_MIN_SEGMENTS = 3;

/** The public form of a growing playlist; playback begins at its start. */
export function growingPlaylist({ initSegment, segments }: ParsedPlaylist): string {
  return [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    `#EXT-X-TARGETDURATION:${growingTarget(segments)}`,
    '#EXT-X-MEDIA-SEQUENCE:0',
    '#EXT-X-PLAYLIST-TYPE:EVENT',
    '#EXT-X-INDEPENDENT-SEGMENTS',
    '#EXT-X-START:TIME-OFFSET=0,PRECISE=YES',
    `#EXT-X-MAP:URI="${initSegment}"`,
    ...segments.flatMap(({ durationSeconds, name }) => [
      `#EXTINF:${durationSeconds.toFixed(6)},`,
      name,
    ]),
    '',
  ].join('\n');
}

/** The final version of a playlist that has grown. */
export function endedPlaylist(playlist: string): string {
  const target = growingTarget(parseMediaPlaylist(playlist).segments);
  return playlist
    .replace('#EXT-X-PLAYLIST-TYPE:EVENT', '#EXT-X-PLAYLIST-TYPE:VOD')
    .replace(/^#EXT-X-TARGETDURATION:(\d+)$/m, (line, seconds: string) =>
      Number(seconds) < target ? `#EXT-X-TARGETDURATION:${target}` : line,
    );
}

/** Sums up a playlist; `sizeOf` returns the size in bytes of a file that it references. */
export async function summarizeMediaPlaylist(
  text: string,
  sizeOf: (name: string) => Promise<number>,
): Promise<MediaPlaylistSummary> {
  const { segments, initSegment } = parseMediaPlaylist(text);
  let durationSeconds = 0;
  let mediaBytes = 0;
  const sized: SizedSegment[] = [];
  for (const segment of segments) {
    const bytes = await sizeOf(segment.name);
    mediaBytes += bytes;
    durationSeconds += segment.durationSeconds;
    sized.push({ bytes, seconds: segment.durationSeconds });
  }
  const initBytes = initSegment === null ? 0 : await sizeOf(initSegment);
  return {
    durationSeconds: Math.round(durationSeconds * 1000) / 1000,
    segmentCount: segments.length,
    sizeBytes: mediaBytes + initBytes,
    peakBandwidthBps: peakOf(sized),
    averageBandwidthBps:
      durationSeconds === 0 ? 0 : Math.ceil((mediaBytes * BITS) / durationSeconds),
  };
}
