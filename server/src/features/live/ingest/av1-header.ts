/** The header of an AV1 stream: AV1CodecConfigurationRecord (AV1 in ISOBMFF, 2.3). */
import { BitReader } from './bit-reader.ts';
import { IngestError } from './ingest-error.ts';
import { requirePictureSize, type PictureSize } from './picture-size.ts';

const firstByte = 0x81;
const unitsAt = 4;
const sequenceHeader = 1;
/** Levels above 3.3 have a tier. */
const lastLevelWithoutTier = 7;

/** @throws {IngestError} */
export function readAv1Header(record: Buffer): PictureSize & { codec: string } {
  const [first, profileAndLevel = 0, flags = 0] = record;
  if (first !== firstByte || record.length <= unitsAt) throw unreadable();
  const level = String(profileAndLevel & 31).padStart(2, '0');
  const tier = (flags & 0x80) === 0 ? 'M' : 'H';
  const depth = (flags & 0x40) === 0 ? '08' : (flags & 0x20) === 0 ? '10' : '12';
  const codec = `av01.${profileAndLevel >> 5}.${level}${tier}.${depth}`;
  return { codec, ...readSize(record.subarray(unitsAt)) };
}

/** The sequence header in the form that precedes a key frame. */
export function av1SequenceHeader(record: Buffer): Buffer {
  return record.subarray(unitsAt);
}

/** The size of the largest picture, from the sequence header (AV1 specification, 5.3 and 5.5.1). */
function readSize(units: Buffer): PictureSize {
  const reader = new BitReader(units);
  reader.skip(1);
  if (reader.bits(4) !== sequenceHeader) throw unreadable();
  const hasExtension = reader.flag();
  const hasSize = reader.flag();
  reader.skip(hasExtension ? 9 : 1);
  if (hasSize) while (reader.flag() && !reader.isPastEnd) reader.skip(7);
  if (hasSize) reader.skip(7);
  reader.skip(4);
  const isReduced = reader.flag();
  if (isReduced) reader.skip(5);
  else skipOperatingPoints(reader);
  const [widthBits, heightBits] = [reader.bits(4) + 1, reader.bits(4) + 1];
  const [width, height] = [reader.bits(widthBits) + 1, reader.bits(heightBits) + 1];
  return requirePictureSize(reader, { width, height });
}

/** Timing, decoder model and operating points of the sequence header. */
function skipOperatingPoints(reader: BitReader): void {
  const hasTiming = reader.flag();
  if (hasTiming) skipTiming(reader);
  const delayBits = hasTiming && reader.flag() ? readDelayBits(reader) : null;
  const hasDisplayDelay = reader.flag();
  const points = reader.bits(5) + 1;
  for (let point = 0; point < points && !reader.isPastEnd; point += 1) {
    reader.skip(12);
    if (reader.bits(5) > lastLevelWithoutTier) reader.skip(1);
    if (delayBits !== null && reader.flag()) reader.skip(2 * delayBits + 1);
    if (hasDisplayDelay && reader.flag()) reader.skip(4);
  }
}

function skipTiming(reader: BitReader): void {
  reader.skip(64);
  const isEven = reader.flag();
  if (isEven) reader.unsigned();
}

function readDelayBits(reader: BitReader): number {
  const bits = reader.bits(5) + 1;
  reader.skip(42);
  return bits;
}

function unreadable(): IngestError {
  return new IngestError('the AV1 header cannot be read');
}
