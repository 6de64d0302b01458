/** The containers that may reach the media engine, named after their demuxers. */
export type ContainerFormat =
  | 'mov'
  | 'matroska'
  | 'mpegts'
  | 'mpeg'
  | 'avi'
  | 'flv'
  | 'ogg'
  | 'mp3'
  | 'aac'
  | 'wav'
  | 'flac'
  | 'asf'
  | 'gif'
  | 'webp_anim';

/** A file's format according to its first bytes. */
export type SniffedFormat = {
  /** The only demuxer that may open the file. */
  readonly container: ContainerFormat;
  /** The media type for storage and logs; never taken from the client. */
  readonly mediaType: string;
};

/** Number of leading bytes that {@link sniffMedia} needs. */
export const SNIFF_BYTES = 4096;

type Signature = {
  readonly container: ContainerFormat;
  readonly mediaType: string;
  readonly matches: (head: Uint8Array) => boolean;
};

/**
 * Still images and camera raw files share the ISO base media layout. Their brands are rejected
 * here, because the demuxer would open them.
 */
const IMAGE_BRANDS = new Set(['heic', 'heix', 'heim', 'heis', 'mif1', 'mif2', 'avif', 'crx ']);

/** First boxes of QuickTime files written before `ftyp` existed. */
const QUICKTIME_FIRST_BOXES = new Set(['moov', 'mdat', 'wide', 'free', 'skip', 'pnot']);

const MAX_QUICKTIME_FIRST_BOX_BYTES = 0x7fff_ffff;
const TRANSPORT_PACKET_BYTES = 188;
const BLU_RAY_PACKET_BYTES = 192;
const MIN_TRANSPORT_PACKETS = 3;
const MIN_CAPTURED_BYTES = 10 * TRANSPORT_PACKET_BYTES;
const ID3_HEADER_BYTES = 10;
/** The first 128 bits of every ASF file, the container format of WMV and WMA. */
const ASF_HEADER = [
  0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11, 0xa6, 0xd9, 0x00, 0xaa, 0x00, 0x62, 0xce, 0x6c,
];
/** The WebP header bit that marks an animation. */
const WEBP_ANIMATION = 0x02;

/** Reads up to `length` bytes as Latin-1 text; shorter at the end of the head. */
function textAt(head: Uint8Array, offset: number, length: number): string {
  return String.fromCharCode(...head.subarray(offset, offset + length));
}

function uint32At(head: Uint8Array, offset: number): number {
  if (head.length < offset + 4) return 0;
  return new DataView(head.buffer, head.byteOffset + offset, 4).getUint32(0);
}

function isIsoMedia(head: Uint8Array): boolean {
  return textAt(head, 4, 4) === 'ftyp' && !IMAGE_BRANDS.has(textAt(head, 8, 4));
}

function isOldQuickTime(head: Uint8Array): boolean {
  if (!QUICKTIME_FIRST_BOXES.has(textAt(head, 4, 4))) return false;
  const boxBytes = uint32At(head, 0);
  // Size 1 means that a 64-bit size follows; 0 means that the box runs to the end of the file.
  return boxBytes <= 1 || (boxBytes >= 8 && boxBytes <= MAX_QUICKTIME_FIRST_BOX_BYTES);
}

function hasTransportSync(head: Uint8Array, packetBytes: number, firstOffset: number): boolean {
  let packets = 0;
  for (let offset = firstOffset; offset < head.length; offset += packetBytes) {
    if (head[offset] !== 0x47) return false;
    packets += 1;
  }
  return packets >= MIN_TRANSPORT_PACKETS;
}

/**
 * The offset of the first complete transport packet and the packet size, or null if there are no
 * packets. A capture of a running stream may begin anywhere.
 */
export function transportPackets(
  head: Uint8Array,
): { firstOffset: number; packetBytes: number } | null {
  if (hasTransportSync(head, BLU_RAY_PACKET_BYTES, 4)) {
    return { firstOffset: 0, packetBytes: BLU_RAY_PACKET_BYTES };
  }
  for (let firstOffset = 0; firstOffset < TRANSPORT_PACKET_BYTES; firstOffset += 1) {
    // With many offsets to try, a few sync bytes can match by chance.
    const isLong = firstOffset === 0 || head.length - firstOffset > MIN_CAPTURED_BYTES;
    if (isLong && hasTransportSync(head, TRANSPORT_PACKET_BYTES, firstOffset)) {
      return { firstOffset, packetBytes: TRANSPORT_PACKET_BYTES };
    }
  }
  return null;
}

/**
 * A frame of MPEG audio layer I to III: eleven sync bits, and no reserved version, layer, bit rate
 * or sample rate.
 */
function isMpegAudioFrame(head: Uint8Array): boolean {
  const [sync = 0, second = 0, third = 0] = head;
  const hasSync = sync === 0xff && (second & 0xe0) === 0xe0;
  const version = (second >> 3) & 3;
  const layer = (second >> 1) & 3;
  const bitRateIndex = third >> 4;
  const sampleRateIndex = (third >> 2) & 3;
  return (
    hasSync &&
    version !== 1 &&
    layer !== 0 &&
    bitRateIndex !== 0 &&
    bitRateIndex !== 15 &&
    sampleRateIndex !== 3
  );
}

/** Requires two consecutive ADTS frames, since twelve sync bits alone can match by chance. */
function isAdts(head: Uint8Array): boolean {
  const isHeader = (offset: number): boolean =>
    head[offset] === 0xff && ((head[offset + 1] ?? 0) & 0xf6) === 0xf0;
  if (!isHeader(0) || head.length < 7) return false;
  const frameBytes = (((head[3] ?? 0) & 3) << 11) | ((head[4] ?? 0) << 3) | ((head[5] ?? 0) >> 5);
  if (frameBytes < 7) return false;
  return frameBytes >= head.length || isHeader(frameBytes);
}

/** The size of an ID3v2 tag at the start of a file in bytes, or 0 without one. */
export function id3TagBytes(head: Uint8Array): number {
  if (textAt(head, 0, 3) !== 'ID3' || (head[3] ?? 0xff) > 4) return 0;
  // Sizes have seven bits per byte.
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + ((head[at] ?? 0) & 0x7f), 0);
  return size + ID3_HEADER_BYTES;
}

/** ADTS after an ID3 tag, as in HLS segments. Not detected if the tag is longer than the head. */
function isTaggedAdts(head: Uint8Array): boolean {
  const tagBytes = id3TagBytes(head);
  return tagBytes > 0 && tagBytes < head.length && isAdts(head.subarray(tagBytes));
}

function isAnimatedWebp(head: Uint8Array): boolean {
  const isExtended = textAt(head, 0, 4) === 'RIFF' && textAt(head, 8, 8) === 'WEBPVP8X';
  return isExtended && ((head[20] ?? 0) & WEBP_ANIMATION) !== 0;
}

/** Tried in order: exact signatures before weaker ones. */
const SIGNATURES: readonly Signature[] = [
  { container: 'mov', mediaType: 'video/mp4', matches: isIsoMedia },
  {
    container: 'matroska',
    mediaType: 'video/x-matroska',
    matches: (head) => uint32At(head, 0) === 0x1a45dfa3,
  },
  {
    container: 'avi',
    mediaType: 'video/x-msvideo',
    matches: (head) => textAt(head, 0, 4) === 'RIFF' && textAt(head, 8, 4) === 'AVI ',
  },
  {
    container: 'wav',
    mediaType: 'audio/wav',
    matches: (head) => textAt(head, 0, 4) === 'RIFF' && textAt(head, 8, 4) === 'WAVE',
  },
  {
    container: 'flv',
    mediaType: 'video/x-flv',
    matches: (head) => textAt(head, 0, 3) === 'FLV' && head[3] === 1,
  },
  {
    container: 'ogg',
    mediaType: 'application/ogg',
    matches: (head) => textAt(head, 0, 4) === 'OggS' && head[4] === 0,
  },
  {
    container: 'flac',
    mediaType: 'audio/flac',
    matches: (head) => textAt(head, 0, 4) === 'fLaC',
  },
  {
    container: 'mpeg',
    mediaType: 'video/mpeg',
    matches: (head) => uint32At(head, 0) === 0x000001ba,
  },
  {
    container: 'mpegts',
    mediaType: 'video/mp2t',
    matches: (head) => transportPackets(head) !== null,
  },
  { container: 'mov', mediaType: 'video/quicktime', matches: isOldQuickTime },
  {
    container: 'asf',
    mediaType: 'video/x-ms-asf',
    matches: (head) => ASF_HEADER.every((byte, index) => head[index] === byte),
  },
  {
    container: 'gif',
    mediaType: 'image/gif',
    matches: (head) => /^GIF8[79]a$/.test(textAt(head, 0, 6)),
  },
  { container: 'webp_anim', mediaType: 'image/webp', matches: isAnimatedWebp },
  { container: 'aac', mediaType: 'audio/aac', matches: isTaggedAdts },
  { container: 'mp3', mediaType: 'audio/mpeg', matches: (head) => id3TagBytes(head) > 0 },
  { container: 'aac', mediaType: 'audio/aac', matches: isAdts },
  { container: 'mp3', mediaType: 'audio/mpeg', matches: isMpegAudioFrame },
];

/**
 * Detects a file's format from its first bytes, before anything parses it.
 *
 * `head` is the first {@link SNIFF_BYTES} of the file, or the whole file if it is shorter. Returns
 * null for everything that is not audio or video: pages, scripts, playlists, archives and images.
 * File names and declared types are ignored.
 */
export function sniffMedia(head: Uint8Array): SniffedFormat | null {
  const found = SIGNATURES.find((signature) => signature.matches(head));
  return found === undefined ? null : { container: found.container, mediaType: found.mediaType };
}
