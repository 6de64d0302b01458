/** The containers that may reach the media engine, by the name of the demuxer that reads them. */
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

/** What the first bytes of a file say it is. */
export type SniffedFormat = {
  /** The one demuxer that may open the file. */
  readonly container: ContainerFormat;
  /** The media type for storage and logs; never taken from the client. */
  readonly mediaType: string;
};

/** How many bytes from the start of a file are enough for {@link sniffMedia}. */
export const SNIFF_BYTES = 4096;

type Signature = {
  readonly container: ContainerFormat;
  readonly mediaType: string;
  readonly matches: (head: Uint8Array) => boolean;
};

/**
 * Still images and camera raws share the ISO base media layout. Their brands are refused here,
 * because the demuxer would happily open them.
 */
const IMAGE_BRANDS = new Set(['heic', 'heix', 'heim', 'heis', 'mif1', 'mif2', 'avif', 'crx ']);

/** Boxes that open a QuickTime file written before `ftyp` existed. */
const QUICKTIME_FIRST_BOXES = new Set(['moov', 'mdat', 'wide', 'free', 'skip', 'pnot']);

const MAX_QUICKTIME_FIRST_BOX_BYTES = 0x7fff_ffff;
const TRANSPORT_PACKET_BYTES = 188;
const BLU_RAY_PACKET_BYTES = 192;
const MIN_TRANSPORT_PACKETS = 3;
const MIN_CAPTURED_BYTES = 10 * TRANSPORT_PACKET_BYTES;
const ID3_HEADER_BYTES = 10;
/** The first 128 bits of every ASF file, which is what WMV and WMA are stored in. */
const ASF_HEADER = [
  0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11, 0xa6, 0xd9, 0x00, 0xaa, 0x00, 0x62, 0xce, 0x6c,
];
/** The bit of a WebP header that says that the pictures move. */
const WEBP_ANIMATION = 0x02;

/** Reads up to `length` bytes as Latin-1 text; past the end of the head the text is shorter. */
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
  // Size 1 announces a 64-bit size and 0 a box that runs to the end of the file.
  return boxBytes <= 1 || (boxBytes >= 8 && boxBytes <= MAX_QUICKTIME_FIRST_BOX_BYTES);
}

/** True when the sync byte stands at the start of every packet that the head holds. */
function hasTransportSync(head: Uint8Array, packetBytes: number, firstOffset: number): boolean {
  let packets = 0;
  for (let offset = firstOffset; offset < head.length; offset += packetBytes) {
    if (head[offset] !== 0x47) return false;
    packets += 1;
  }
  return packets >= MIN_TRANSPORT_PACKETS;
}

/**
 * Where the first whole transport packet starts, and how far apart packets are. A capture of a running
 * stream begins anywhere. Null where there are none.
 */
export function transportPackets(
  head: Uint8Array,
): { firstOffset: number; packetBytes: number } | null {
  if (hasTransportSync(head, BLU_RAY_PACKET_BYTES, 4)) {
    return { firstOffset: 0, packetBytes: BLU_RAY_PACKET_BYTES };
  }
  for (let firstOffset = 0; firstOffset < TRANSPORT_PACKET_BYTES; firstOffset += 1) {
    // A few sync bytes are met by chance where many places are tried.
    const isLong = firstOffset === 0 || head.length - firstOffset > MIN_CAPTURED_BYTES;
    if (isLong && hasTransportSync(head, TRANSPORT_PACKET_BYTES, firstOffset)) {
      return { firstOffset, packetBytes: TRANSPORT_PACKET_BYTES };
    }
  }
  return null;
}

/** MPEG audio layer I to III: eleven sync bits, no reserved version, layer, bit rate or sample rate. */
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

/** ADTS: two frames in a row, since twelve sync bits alone are met by chance. */
function isAdts(head: Uint8Array): boolean {
  const isHeader = (offset: number): boolean =>
    head[offset] === 0xff && ((head[offset + 1] ?? 0) & 0xf6) === 0xf0;
  if (!isHeader(0) || head.length < 7) return false;
  const frameBytes = (((head[3] ?? 0) & 3) << 11) | ((head[4] ?? 0) << 3) | ((head[5] ?? 0) >> 5);
  if (frameBytes < 7) return false;
  return frameBytes >= head.length || isHeader(frameBytes);
}

/** The size of an ID3v2 tag at the start of a file, in bytes; 0 where there is none. */
export function id3TagBytes(head: Uint8Array): number {
  if (textAt(head, 0, 3) !== 'ID3' || (head[3] ?? 0xff) > 4) return 0;
  // Seven bits in each byte.
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + ((head[at] ?? 0) & 0x7f), 0);
  return size + ID3_HEADER_BYTES;
}

/** ADTS behind an ID3 tag, as in the segments of HLS. A tag longer than the head hides it. */
function isTaggedAdts(head: Uint8Array): boolean {
  const tagBytes = id3TagBytes(head);
  return tagBytes > 0 && tagBytes < head.length && isAdts(head.subarray(tagBytes));
}

function isAnimatedWebp(head: Uint8Array): boolean {
  const isExtended = textAt(head, 0, 4) === 'RIFF' && textAt(head, 8, 8) === 'WEBPVP8X';
  return isExtended && ((head[20] ?? 0) & WEBP_ANIMATION) !== 0;
}

/** Tried in order; the exact signatures come before the weaker ones. */
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
 * Says what a file is by its first bytes, before anything parses it.
 *
 * `head` is the start of the file, {@link SNIFF_BYTES} or the whole file if that is shorter. The
 * answer is null for everything that is not audio or video: pages, scripts, playlists, archives and
 * images. Names and declared types play no part.
 */
export function sniffMedia(head: Uint8Array): SniffedFormat | null {
  const found = SIGNATURES.find((signature) => signature.matches(head));
  return found === undefined ? null : { container: found.container, mediaType: found.mediaType };
}
