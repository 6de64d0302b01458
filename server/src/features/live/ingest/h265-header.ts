/** The header of an HEVC stream: HEVCDecoderConfigurationRecord (ISO/IEC 14496-15, 8.3.2.1). */
import { BitReader, withoutEscapes } from './bit-reader.ts';
import { uint32 } from './boxes.ts';
import { IngestError } from './ingest-error.ts';
import { requirePictureSize, type PictureSize } from './picture-size.ts';

const sequenceParameterSet = 33;
/** Video, sequence and picture parameter sets (VPS, SPS, PPS). */
const parameterSetKinds = [32, sequenceParameterSet, 34];
const arraysAt = 22;
const unitHeaderBytes = 2;
const maxSubLayers = 8;

/** @throws {IngestError} */
export function readH265Header(record: Buffer): PictureSize & { codec: string } {
  const hasFourByteLengths = ((record[21] ?? 0) & 3) === 3;
  if (record[0] !== 1 || record.length <= arraysAt || !hasFourByteLengths) throw unreadable();
  const sps = readUnits(record).find(({ kind }) => kind === sequenceParameterSet);
  if (sps === undefined) throw unreadable();
  return { codec: codecOf(record), ...readSize(withoutEscapes(sps.bytes)) };
}

/** The parameter sets as length-prefixed units. @throws {IngestError} */
export function h265ParameterSets(record: Buffer): Buffer {
  const sets = readUnits(record).filter(({ kind }) => parameterSetKinds.includes(kind));
  return Buffer.concat(sets.flatMap(({ bytes }) => [uint32(bytes.length), bytes]));
}

function readUnits(record: Buffer): { kind: number; bytes: Buffer }[] {
  const units: { kind: number; bytes: Buffer }[] = [];
  let at = arraysAt + 1;
  for (let array = 0; array < (record[arraysAt] ?? 0); array += 1) {
    const kind = (record[at] ?? 0) & 63;
    const count = at + 3 <= record.length ? record.readUInt16BE(at + 1) : -1;
    if (count < 0) throw unreadable();
    at += 3;
    for (let unit = 0; unit < count; unit += 1) {
      const length = at + 2 <= record.length ? record.readUInt16BE(at) : 0;
      const bytes = record.subarray(at + 2, at + 2 + length);
      if (length <= unitHeaderBytes || bytes.length < length) throw unreadable();
      units.push({ kind, bytes });
      at += 2 + length;
    }
  }
  return units;
}

/** The codec string (annex E.3), such as `hvc1.1.6.L93.90`. */
function codecOf(record: Buffer): string {
  const profileByte = record[1] ?? 0;
  const space = ['', 'A', 'B', 'C'][profileByte >> 6] ?? '';
  const tier = (profileByte & 32) === 0 ? 'L' : 'H';
  const compatibility = reversedBits(record.readUInt32BE(2)).toString(16).toUpperCase();
  const constraints = [...record.subarray(6, 12)];
  const used = constraints.slice(0, constraints.findLastIndex((byte) => byte !== 0) + 1);
  return [
    'hvc1',
    `${space}${profileByte & 31}`,
    compatibility,
    `${tier}${record[12] ?? 0}`,
    ...used.map((byte) => byte.toString(16).toUpperCase()),
  ].join('.');
}

function reversedBits(value: number): number {
  return Number.parseInt([...value.toString(2).padStart(32, '0')].toReversed().join(''), 2);
}

/** The display size, from the sequence parameter set (ISO/IEC 23008-2, 7.3.2.2.1). */
function readSize(sps: Uint8Array): PictureSize {
  const reader = new BitReader(sps.subarray(unitHeaderBytes));
  reader.skip(4);
  const subLayers = reader.bits(3);
  reader.skip(1);
  skipProfiles(reader, subLayers);
  reader.unsigned();
  const chromaFormat = reader.unsigned();
  if (chromaFormat === 3) reader.skip(1);
  const [codedWidth, codedHeight] = [reader.unsigned(), reader.unsigned()];
  const [left, right, top, bottom] = reader.flag()
    ? [reader.unsigned(), reader.unsigned(), reader.unsigned(), reader.unsigned()]
    : [0, 0, 0, 0];
  const cropX = chromaFormat === 1 || chromaFormat === 2 ? 2 : 1;
  const cropY = chromaFormat === 1 ? 2 : 1;
  const width = codedWidth - (left + right) * cropX;
  const height = codedHeight - (top + bottom) * cropY;
  return requirePictureSize(reader, { width, height });
}

/** profile_tier_level (7.3.3). */
function skipProfiles(reader: BitReader, subLayers: number): void {
  const [profileBits, levelBits] = [88, 8];
  reader.skip(profileBits + levelBits);
  const present = Array.from({ length: subLayers }, () => [reader.flag(), reader.flag()] as const);
  if (subLayers > 0) reader.skip(2 * (maxSubLayers - subLayers));
  for (const [hasProfile, hasLevel] of present) {
    reader.skip((hasProfile ? profileBits : 0) + (hasLevel ? levelBits : 0));
  }
}

function unreadable(): IngestError {
  return new IngestError('the HEVC header cannot be read');
}
