/** The header of an H.264 stream in FLV and MP4: AVCDecoderConfigurationRecord. */
import { BitReader, withoutEscapes } from './bit-reader.ts';
import { uint32 } from './boxes.ts';
import { IngestError } from './ingest-error.ts';
import { requirePictureSize, type PictureSize } from './picture-size.ts';

/** Profiles whose parameters start with the chroma format (ISO/IEC 14496-10, 7.3.2.1.1). */
const chromaProfiles = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]);
const spsCountAt = 5;
const spsAt = 8;

/** @throws {IngestError} */
export function readH264Header(record: Buffer): PictureSize & { codec: string } {
  const spsLength = record.length > spsAt ? record.readUInt16BE(6) : 0;
  const sps = record.subarray(spsAt, spsAt + spsLength);
  const hasFourByteLengths = ((record[4] ?? 0) & 3) === 3;
  const hasParameters = ((record[5] ?? 0) & 31) >= 1 && sps.length === spsLength && sps.length > 4;
  if (record[0] !== 1 || !hasFourByteLengths || !hasParameters) {
    throw new IngestError('the H.264 header cannot be read');
  }
  const size = readSize(withoutEscapes(sps.subarray(1)));
  h264ParameterSets(record);
  return { codec: `avc1.${record.toString('hex', 1, 4)}`, ...size };
}

/**
 * The parameter sets of the record as length-prefixed units, to be placed before a key frame.
 * @throws {IngestError} if a list is truncated
 */
export function h264ParameterSets(record: Buffer): Buffer {
  const units: Buffer[] = [];
  let at = spsCountAt;
  for (const mask of [31, 255]) {
    const count = (record[at] ?? 0) & mask;
    at += 1;
    for (let index = 0; index < count; index += 1) {
      const length = at + 2 <= record.length ? record.readUInt16BE(at) : -1;
      const unit = record.subarray(at + 2, at + 2 + length);
      if (length < 1 || unit.length < length) {
        throw new IngestError('the H.264 header cannot be read');
      }
      units.push(uint32(length), unit);
      at += 2 + length;
    }
  }
  return Buffer.concat(units);
}

/** The display size, from the sequence parameters (7.3.2.1.1). */
function readSize(sps: Uint8Array): PictureSize {
  const reader = new BitReader(sps);
  const profile = reader.bits(8);
  reader.bits(16);
  reader.unsigned();
  const chromaFormat = chromaProfiles.has(profile) ? skipChroma(reader) : 1;
  reader.unsigned();
  skipPictureOrder(reader);
  reader.unsigned();
  reader.flag();
  const macroblocksWide = reader.unsigned() + 1;
  const mapUnitsHigh = reader.unsigned() + 1;
  const hasWholeFrames = reader.flag();
  if (!hasWholeFrames) reader.flag();
  reader.flag();
  const fieldFactor = hasWholeFrames ? 1 : 2;
  const [left, right, top, bottom] = reader.flag()
    ? [reader.unsigned(), reader.unsigned(), reader.unsigned(), reader.unsigned()]
    : [0, 0, 0, 0];
  const cropX = chromaFormat === 1 || chromaFormat === 2 ? 2 : 1;
  const cropY = (chromaFormat === 1 ? 2 : 1) * fieldFactor;
  const width = macroblocksWide * 16 - (left + right) * cropX;
  const height = mapUnitsHigh * 16 * fieldFactor - (top + bottom) * cropY;
  return requirePictureSize(reader, { width, height });
}

/** @returns the chroma format */
function skipChroma(reader: BitReader): number {
  const chromaFormat = reader.unsigned();
  if (chromaFormat === 3) reader.flag();
  reader.unsigned();
  reader.unsigned();
  reader.flag();
  if (reader.flag()) {
    for (let list = 0; list < (chromaFormat === 3 ? 12 : 8); list += 1) {
      if (reader.flag()) skipScalingList(reader, list < 6 ? 16 : 64);
    }
  }
  return chromaFormat;
}

/** 7.3.2.1.1.1 */
function skipScalingList(reader: BitReader, size: number): void {
  let last = 8;
  let next = 8;
  for (let index = 0; index < size; index += 1) {
    if (next !== 0) next = (last + reader.signed() + 256) % 256;
    if (next !== 0) last = next;
  }
}

function skipPictureOrder(reader: BitReader): void {
  const type = reader.unsigned();
  if (type === 0) reader.unsigned();
  if (type !== 1) return;
  reader.flag();
  reader.signed();
  reader.signed();
  const cycle = reader.unsigned();
  for (let index = 0; index < cycle && !reader.isPastEnd; index += 1) reader.signed();
}
