import { distinctNames, UNKNOWN_LANGUAGE, type TrackName } from './track-names.ts';

/** The entry of one rendition in a master playlist. */
export type PlaylistVariant = {
  /** Path of the media playlist relative to the master playlist. */
  readonly playlist: string;
  /** Maximum bit rate of any segment. */
  readonly peakBandwidthBps: number;
  readonly averageBandwidthBps: number;
  /** Comma-separated RFC 6381 codec strings. */
  readonly codecs: string;
  readonly width: number | null;
  readonly height: number | null;
  readonly frameRate: number | null;
  /** Set for audio stored separately from the video. */
  readonly sound?: TrackName;
};

const SOUND_GROUP = 'audio';
const CLOSED_CAPTIONS_GROUP = 'cc';
const CLOSED_CAPTIONS = `#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="${CLOSED_CAPTIONS_GROUP}",NAME="CC1",DEFAULT=NO,AUTOSELECT=YES,INSTREAM-ID="CC1"`;

type Sound = PlaylistVariant & { readonly sound: TrackName };

/** A stream's bandwidth includes the largest audio track that can be played with it. */
function streamInfo(
  variant: PlaylistVariant,
  sounds: readonly Sound[],
  hasClosedCaptions: boolean,
): string {
  const others = sounds.filter(({ playlist }) => playlist !== variant.playlist);
  const most = (rates: number[]): number =>
    variant.sound === undefined ? Math.max(0, ...rates) : 0;
  const peak = variant.peakBandwidthBps + most(others.map((one) => one.peakBandwidthBps));
  const average = variant.averageBandwidthBps + most(others.map((one) => one.averageBandwidthBps));
  const attributes = [`BANDWIDTH=${peak}`, `AVERAGE-BANDWIDTH=${average}`];
  if (variant.width !== null && variant.height !== null) {
    attributes.push(`RESOLUTION=${variant.width}x${variant.height}`);
  }
  if (variant.frameRate !== null) attributes.push(`FRAME-RATE=${variant.frameRate.toFixed(3)}`);
  const codecs = new Set([...variant.codecs.split(','), ...sounds.map((one) => one.codecs)]);
  attributes.push(`CODECS="${[...codecs].join(',')}"`);
  if (sounds.length > 0) attributes.push(`AUDIO="${SOUND_GROUP}"`);
  if (hasClosedCaptions && variant.codecs.includes('avc1')) {
    attributes.push(`CLOSED-CAPTIONS="${CLOSED_CAPTIONS_GROUP}"`);
  }
  return `#EXT-X-STREAM-INF:${attributes.join(',')}`;
}

function soundInfo({ language, label }: TrackName, playlist: string, isDefault: boolean): string {
  const attributes = [
    'TYPE=AUDIO',
    `GROUP-ID="${SOUND_GROUP}"`,
    `NAME="${label}"`,
    ...(language === UNKNOWN_LANGUAGE ? [] : [`LANGUAGE="${language}"`]),
    `DEFAULT=${isDefault ? 'YES' : 'NO'}`,
    'AUTOSELECT=YES',
    'CHANNELS="2"',
    `URI="${playlist}"`,
  ];
  return `#EXT-X-MEDIA:${attributes.join(',')}`;
}

/**
 * Writes an HLS master playlist (RFC 8216, section 4.3.4). Players start with the first variant, so
 * the caller's order determines the quality of the first second. Separate audio tracks become a
 * group; the first is its default and also the last stream of the list. Closed captions are
 * embedded in the pictures of all H.264 renditions.
 */
export function masterPlaylist(
  variants: readonly PlaylistVariant[],
  { hasClosedCaptions = false }: { hasClosedCaptions?: boolean } = {},
): string {
  const lines = ['#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-INDEPENDENT-SEGMENTS'];
  const sounds = variants.filter((variant): variant is Sound => variant.sound !== undefined);
  const streams = variants.filter((variant) => variant.sound === undefined);
  const names = distinctNames(sounds.map(({ sound }) => sound));
  for (const [index, { playlist }] of sounds.entries()) {
    const name = names[index];
    if (name !== undefined) lines.push(soundInfo(name, playlist, index === 0));
  }
  if (hasClosedCaptions) lines.push(CLOSED_CAPTIONS);
  for (const variant of [...streams, ...sounds.slice(0, 1)]) {
    lines.push(streamInfo(variant, sounds, hasClosedCaptions), variant.playlist);
  }
  return `${lines.join('\n')}\n`;
}
