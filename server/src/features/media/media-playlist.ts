/** What a finished media playlist and its files amount to. */
export type MediaPlaylistSummary = {
  readonly durationSeconds: number;
  readonly segmentCount: number;
  /** Of the segments and the initialization segment. */
  readonly sizeBytes: number;
  /** The largest rate of any segment over its own length, as players measure it. */
  readonly peakBandwidthBps: number;
  readonly averageBandwidthBps: number;
};

/** One media segment as its playlist lists it. */
export type Segment = {
  readonly name: string;
  readonly durationSeconds: number;
};

const BITS = 8;

/** Reads the segments of a media playlist; it understands what our own output contains. */
export function parseMediaPlaylist(text: string): {
  segments: Segment[];
  initSegment: string | null;
} {
  const segments: Segment[] = [];
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
 * Raises a target duration of 0, which FFmpeg writes for a clip under half a second: players refuse
 * it (RFC 8216, 4.3.3.1 asks for a positive integer).
 */
export function withTargetDuration(playlist: string): string {
  return playlist.replace(/^#EXT-X-TARGETDURATION:0$/m, '#EXT-X-TARGETDURATION:1');
}

/** Adds up a playlist; `sizeOf` gives the size in bytes of a file that the playlist names. */
export async function summarizeMediaPlaylist(
  text: string,
  sizeOf: (name: string) => Promise<number>,
): Promise<MediaPlaylistSummary> {
  const { segments, initSegment } = parseMediaPlaylist(text);
  let durationSeconds = 0;
  let mediaBytes = 0;
  let peakBandwidthBps = 0;
  for (const segment of segments) {
    const bytes = await sizeOf(segment.name);
    mediaBytes += bytes;
    durationSeconds += segment.durationSeconds;
    const bitsPerSecond = Math.ceil((bytes * BITS) / segment.durationSeconds);
    if (Number.isFinite(bitsPerSecond))
      peakBandwidthBps = Math.max(peakBandwidthBps, bitsPerSecond);
  }
  const initBytes = initSegment === null ? 0 : await sizeOf(initSegment);
  return {
    durationSeconds: Math.round(durationSeconds * 1000) / 1000,
    segmentCount: segments.length,
    sizeBytes: mediaBytes + initBytes,
    peakBandwidthBps,
    averageBandwidthBps:
      durationSeconds === 0 ? 0 : Math.ceil((mediaBytes * BITS) / durationSeconds),
  };
}
