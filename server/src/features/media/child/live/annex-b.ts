/**
 * Converts H.264 from x264's byte stream format (ISO/IEC 14496-10, annex B) to MP4's (ISO/IEC
 * 14496-15).
 */

const SEQUENCE_PARAMETERS = 7;
const PICTURE_PARAMETERS = 8;

/** Splits a byte stream into the NAL units between its start codes. */
export function splitUnits(bytes: Buffer): Buffer[] {
  const units: Buffer[] = [];
  let start = -1;
  for (let at = bytes.indexOf('\0\0\x01'); at >= 0; at = bytes.indexOf('\0\0\x01', at + 3)) {
    if (start >= 0) units.push(withoutZeros(bytes.subarray(start, at)));
    start = at + 3;
  }
  if (start >= 0) units.push(bytes.subarray(start));
  return units;
}

/** A NAL unit ends with a set bit, so trailing zeros belong to the next start code. */
function withoutZeros(unit: Buffer): Buffer {
  let end = unit.length;
  while (end > 0 && unit[end - 1] === 0) end -= 1;
  return unit.subarray(0, end);
}

/** The NAL units of a picture, each prefixed with its length in four bytes. */
export function lengthPrefixed(picture: Buffer): Buffer {
  const parts = splitUnits(picture).flatMap((unit) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(unit.length);
    return [length, unit];
  });
  return Buffer.concat(parts);
}

/** Builds the AVCDecoderConfigurationRecord from an encoder's header, for 8-bit 4:2:0. */
export function avcRecord(header: Buffer): Buffer {
  const units = splitUnits(header);
  const ofType = (type: number) => units.filter((unit) => ((unit[0] ?? 0) & 31) === type);
  const [sequence, ...more] = ofType(SEQUENCE_PARAMETERS);
  const [picture] = ofType(PICTURE_PARAMETERS);
  if (sequence === undefined || picture === undefined || more.length > 0) {
    throw new Error('The encoder produced an unsupported header.');
  }
  const lengthOf = ({ length }: Buffer) => Buffer.of(length >> 8, length & 255);
  const highProfile = Buffer.of(0xfd, 0xf8, 0xf8, 0);
  const profile = sequence.subarray(1, 4);
  const oneSet = [Buffer.of(0xff, 0xe1), lengthOf(sequence), sequence];
  const parts = [Buffer.of(1), profile, ...oneSet, Buffer.of(1), lengthOf(picture), picture];
  return Buffer.concat([...parts, highProfile]);
}
