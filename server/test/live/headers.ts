/**
 * Headers as encoders send them. Those of H.264 and AAC are written bit by bit from the standards.
 */

/** 44.1 kHz, two channels (ISO/IEC 14496-3, 1.6.2.1). */
export const audioHeader = Buffer.of(0x12, 0x10);

/** 320x180, as FFmpeg's libx265 writes it by default, without its version message. */
export const h265Header = Buffer.from(
  '0101600000009000000000003cf000fcfdf8f800000f03200001001840010c01ffff016000000300900000030000' +
    '03003c959009210001002842010101600000030090000003000003003ca00a080c1f3e595912930b9a02000007' +
    'd0000075301022000100064401c073c189',
  'hex',
);

/** 320x180, as FFmpeg's libsvtav1 writes it. */
export const av1Header = Buffer.from('81000c000a0b000000043cfecc02f80040', 'hex');

class BitWriter {
  #bits = '';

  bits(value: number, count: number): this {
    this.#bits += value.toString(2).padStart(count, '0');
    return this;
  }

  /** Exp-Golomb (ISO/IEC 14496-10, 9.1). */
  unsigned(value: number): this {
    const code = (value + 1).toString(2);
    this.#bits += '0'.repeat(code.length - 1) + code;
    return this;
  }

  /** With the stop bit, and escaped (7.3.2.11, 7.4.1). */
  toUnit(): Buffer {
    const padded = `${this.#bits}1`.padEnd(Math.ceil((this.#bits.length + 1) / 8) * 8, '0');
    const bytes = (padded.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
    const escaped: number[] = [];
    for (const byte of bytes) {
      const isCode = escaped.at(-1) === 0 && escaped.at(-2) === 0 && byte <= 3;
      if (isCode) escaped.push(3);
      escaped.push(byte);
    }
    return Buffer.from(escaped);
  }
}

/** An AVCDecoderConfigurationRecord of baseline profile for pictures of this size. */
export function videoHeader(width: number, height: number): Buffer {
  const [wide, high] = [Math.ceil(width / 16), Math.ceil(height / 16)];
  const [right, bottom] = [(wide * 16 - width) / 2, (high * 16 - height) / 2];
  const sps = new BitWriter().bits(66, 8).bits(0xc0, 8).bits(30, 8).unsigned(0).unsigned(0);
  sps
    .unsigned(2)
    .unsigned(1)
    .bits(0, 1)
    .unsigned(wide - 1)
    .unsigned(high - 1);
  sps.bits(1, 1).bits(1, 1);
  const isCropped = right > 0 || bottom > 0;
  sps.bits(isCropped ? 1 : 0, 1);
  if (isCropped) sps.unsigned(0).unsigned(right).unsigned(0).unsigned(bottom);
  sps.bits(0, 1);
  const spsUnit = Buffer.concat([Buffer.of(0x67), sps.toUnit()]);
  const ppsUnit = Buffer.of(0x68, 0xce, 0x38, 0x80);
  const withLength = (unit: Buffer) =>
    Buffer.concat([Buffer.of(unit.length >> 8, unit.length & 255), unit]);
  const start = Buffer.of(1, 66, 0xc0, 30, 0xff, 0xe1);
  return Buffer.concat([start, withLength(spsUnit), Buffer.of(1), withLength(ppsUnit)]);
}
