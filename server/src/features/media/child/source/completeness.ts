import { open, type FileHandle } from 'node:fs/promises';
import { SNIFF_BYTES, transportPackets, type ContainerFormat } from '../../sniff.ts';

const FLV_TAG_TYPES: ReadonlySet<number> = new Set([8, 9, 18]);
const FLV_TAG_HEADER_BYTES = 11;
const RIFF_HEADER_BYTES = 8;

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, length, position);
  return bytes.subarray(0, bytesRead);
}

/** AVI, WAV and WebP are sequences of RIFF chunks, each of which declares its length. */
async function riffProblem(file: FileHandle, sizeBytes: number): Promise<string | null> {
  for (let position = 0; position + RIFF_HEADER_BYTES <= sizeBytes;) {
    const header = await bytesAt(file, position, RIFF_HEADER_BYTES);
    if (header.toString('latin1', 0, 4) !== 'RIFF') return null;
    const length = header.readUInt32LE(4);
    // A recorder that could not seek back to the header leaves 0 or the maximum value there.
    if (length === 0 || length === 0xffff_ffff) return null;
    const end = position + RIFF_HEADER_BYTES + length;
    if (end > sizeBytes) return `the RIFF chunk at ${position} ends at ${end} of ${sizeBytes}`;
    position = end + (length % 2);
  }
  return null;
}

/** In FLV, each tag is followed by its length, so the last four bytes lead to the last tag. */
async function flvProblem(file: FileHandle, sizeBytes: number): Promise<string | null> {
  const tail = await bytesAt(file, Math.max(0, sizeBytes - 4), 4);
  const tagBytes = tail.length < 4 ? 0 : tail.readUInt32BE(0);
  const start = sizeBytes - 4 - tagBytes;
  if (tagBytes < FLV_TAG_HEADER_BYTES || start < 0) return 'the last FLV tag has no end';
  const header = await bytesAt(file, start, FLV_TAG_HEADER_BYTES);
  const isTag =
    FLV_TAG_TYPES.has((header[0] ?? 0) & 0x1f) &&
    header.readUIntBE(1, 3) === tagBytes - FLV_TAG_HEADER_BYTES;
  return isTag ? null : 'the last FLV tag is cut off';
}

/**
 * A transport stream that begins on a packet boundary must end on one. A capture may begin and end
 * anywhere.
 */
async function transportProblem(file: FileHandle, sizeBytes: number): Promise<string | null> {
  const packets = transportPackets(await bytesAt(file, 0, SNIFF_BYTES));
  if (packets === null || packets.firstOffset > 0) return null;
  const rest = sizeBytes % packets.packetBytes;
  return rest === 0 ? null : `the last packet has ${rest} of ${packets.packetBytes} bytes`;
}

/**
 * Returns evidence that the end of a file is missing, or null if there is none. Covers the
 * containers whose truncated files FFmpeg plays as if they were complete; for all others, the
 * declared duration is compared with what could be decoded.
 */
export async function missingEnd(
  path: string,
  container: ContainerFormat,
  sizeBytes: number,
): Promise<string | null> {
  await using file = await open(path, 'r');
  switch (container) {
    case 'avi':
    case 'wav':
    case 'webp_anim':
      return await riffProblem(file, sizeBytes);
    case 'flv':
      return await flvProblem(file, sizeBytes);
    case 'mpegts':
      return await transportProblem(file, sizeBytes);
    case 'mov':
    case 'matroska':
    case 'mpeg':
    case 'ogg':
    case 'mp3':
    case 'aac':
    case 'flac':
    case 'asf':
    case 'gif':
      return null;
    default:
      return container satisfies never;
  }
}
