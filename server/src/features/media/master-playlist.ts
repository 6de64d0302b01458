/** What a master playlist says about one finished rendition. */
export type Variant = {
  /** Path of the media playlist relative to the master playlist. */
  readonly playlist: string;
  /** The largest bit rate of any single segment, in bits per second. */
  readonly peakBandwidthBps: number;
  readonly averageBandwidthBps: number;
  /** RFC 6381 codec strings, separated by commas. */
  readonly codecs: string;
  readonly width: number | null;
  readonly height: number | null;
  readonly frameRate: number | null;
};

function streamInfo(variant: Variant): string {
  const attributes = [
    `BANDWIDTH=${variant.peakBandwidthBps}`,
    `AVERAGE-BANDWIDTH=${variant.averageBandwidthBps}`,
  ];
  if (variant.width !== null && variant.height !== null) {
    attributes.push(`RESOLUTION=${variant.width}x${variant.height}`);
  }
  if (variant.frameRate !== null) attributes.push(`FRAME-RATE=${variant.frameRate.toFixed(3)}`);
  attributes.push(`CODECS="${variant.codecs}"`);
  return `#EXT-X-STREAM-INF:${attributes.join(',')}`;
}

/**
 * Writes an HLS master playlist (RFC 8216, section 4.3.4). Players start with the first variant,
 * so the caller's order decides how a video looks in its first second.
 */
export function masterPlaylist(variants: readonly Variant[]): string {
  const lines = ['#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-INDEPENDENT-SEGMENTS'];
  for (const variant of variants) lines.push(streamInfo(variant), variant.playlist);
  return `${lines.join('\n')}\n`;
}
