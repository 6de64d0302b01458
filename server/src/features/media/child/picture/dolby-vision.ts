/**
 * Dolby Vision for generated clips: the container configuration and, for each picture, the metadata
 * (RPU) that tells a Dolby Vision display how to change the base layer. See ETSI GS CCM 001.
 */
import { crc32 } from 'node:zlib';
import type { Packet } from 'node-av/lib';

/**
 * The configuration as FFmpeg stores it: version 1.0, profile 8, level 4, metadata and base layer
 * present, HLG base layer (compatibility 4).
 */
export const DOLBY_VISION_CONFIGURATION = Buffer.from([1, 0, 8, 4, 1, 0, 1, 4, 0]);

const START_CODE = [0, 0, 0, 1];
/**
 * Header of an HEVC NAL unit of type 62 (unspecified, left to applications), which carries Dolby
 * Vision metadata.
 */
const NAL_HEADER = [62 << 1, 1];
const RPU_PREFIX = 0x19;
const RPU_TYPE = 2;
const RPU_FORMAT = 18;
const BIT_DEPTH = 10;
const DENOMINATOR_BITS = 23;

/** Collects bits, most significant first. */
class BitWriter {
  #bits = '';

  /** Appends `value` as this many bits. */
  put(value: number, bits: number): void {
    this.#bits += value.toString(2).padStart(bits, '0');
  }

  /** Appends `value` as an Exp-Golomb code. */
  putUnsigned(value: number): void {
    const bits = Math.floor(Math.log2(value + 1));
    this.put(value + 1, 2 * bits + 1);
  }

  /** The collected bits as bytes, with the last byte zero-padded. */
  bytes(): Buffer {
    const octets = this.#bits.match(/.{1,8}/g) ?? [];
    return Buffer.from(octets.map((octet) => Number.parseInt(octet.padEnd(8, '0'), 2)));
  }
}

/** An RPU that makes a display show the base layer at half its signal level. */
function halvingRpu(): Buffer {
  const bits = new BitWriter();
  bits.put(RPU_TYPE, 6);
  bits.put(RPU_FORMAT, 11);
  bits.put(1, 4); // profile: main
  bits.put(0, 4); // level
  bits.put(1, 1); // sequence info present
  bits.put(0, 1); // no chroma resampling filter
  bits.put(0, 2); // fixed-point coefficients
  bits.putUnsigned(DENOMINATOR_BITS);
  bits.put(1, 2); // normalized
  bits.put(0, 1); // limited range
  for (let layer = 0; layer < 3; layer += 1) bits.putUnsigned(BIT_DEPTH - 8);
  bits.put(0, 1 + 3 + 1); // no spatial resampling
  bits.put(1, 1); // no residual
  bits.put(0, 1); // no display management metadata
  bits.put(0, 1); // does not reuse a previous RPU
  bits.putUnsigned(0); // id
  bits.putUnsigned(0); // colour space
  bits.putUnsigned(0); // chroma format
  for (let component = 0; component < 3; component += 1) {
    bits.putUnsigned(0); // two pivots: the end points
    bits.put(0, BIT_DEPTH);
    bits.put(2 ** BIT_DEPTH - 1, BIT_DEPTH);
  }
  bits.putUnsigned(0); // one horizontal partition
  bits.putUnsigned(0); // one vertical partition
  for (let component = 0; component < 3; component += 1) {
    bits.putUnsigned(0); // polynomial mapping
    bits.putUnsigned(0); // first order
    bits.put(0, 1);
    bits.putUnsigned(0); // constant term: 0 / 2 ** 23
    bits.put(0, DENOMINATOR_BITS);
    bits.putUnsigned(0); // linear term: half the signal
    bits.put(2 ** (DENOMINATOR_BITS - 1), DENOMINATOR_BITS);
  }
  const body = bits.bytes();
  return Buffer.concat([Buffer.from([RPU_PREFIX]), body, checksum(body), Buffer.from([0x80])]);
}

/** The MPEG-2 CRC: zlib's CRC with the bits of each input byte and of the result reversed. */
function checksum(bytes: Buffer): Buffer {
  const turned = crc32(Buffer.from(bytes.map((byte) => turn(byte, 8))));
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE((turn(turned, 32) ^ 0xffff_ffff) >>> 0);
  return checksum;
}

function turn(value: number, bits: number): number {
  let turned = 0;
  for (let bit = 0; bit < bits; bit += 1) turned = turned * 2 + (Math.floor(value / 2 ** bit) % 2);
  return turned;
}

/** Inserts emulation prevention bytes, so that the payload cannot be mistaken for a start code. */
function escaped(payload: Buffer): Buffer {
  const bytes: number[] = [];
  for (const byte of payload) {
    if (byte <= 3 && bytes.at(-1) === 0 && bytes.at(-2) === 0) bytes.push(3);
    bytes.push(byte);
  }
  return Buffer.from(bytes);
}

const METADATA = Buffer.concat([
  Buffer.from(START_CODE),
  Buffer.from(NAL_HEADER),
  escaped(halvingRpu()),
]);

/** Appends the metadata to a coded picture in byte stream format. */
export function appendMetadata(packet: Packet): void {
  const { data, dts, duration, flags, pts, streamIndex } = packet;
  // Replacing the data resets the packet's other properties.
  packet.data = Buffer.concat([data ?? Buffer.alloc(0), METADATA]);
  Object.assign(packet, { dts, duration, flags, pts, streamIndex });
}
