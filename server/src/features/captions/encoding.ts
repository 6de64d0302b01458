import { analyse } from 'chardet';

/** Below this confidence in percent, a guess is less likely than the most common encoding. */
const minConfidence = 30;
const mostCommon = 'windows-1252';
/** A share of zero bytes at even or odd offsets that only UTF-16 reaches. */
const minZeros = 0.2;
const sampleBytes = 4_096;

/**
 * Decodes a caption file from UTF-8 or UTF-16, with or without a byte order mark, or otherwise from
 * the 8-bit or East Asian encoding that its characters suggest.
 */
export function decodeCaptions(bytes: Buffer): string {
  return new TextDecoder(encodingOf(bytes)).decode(bytes);
}

function encodingOf(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  // Times and line breaks are ASCII in any language, so every other byte of them is zero in UTF-16.
  const sample = bytes.subarray(0, sampleBytes);
  if (zeros(sample, 1) > minZeros && zeros(sample, 0) < minZeros / 2) return 'utf-16le';
  if (zeros(sample, 0) > minZeros && zeros(sample, 1) < minZeros / 2) return 'utf-16be';
  return isUtf8(bytes) ? 'utf-8' : guess(bytes);
}

/** The share of zeros at even or odd offsets. */
function zeros(bytes: Buffer, remainder: 0 | 1): number {
  const count = bytes.filter((byte, index) => byte === 0 && index % 2 === remainder).length;
  return count / Math.max(1, bytes.length / 2);
}

function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Judged by text lines only, because times and numbers are the same in every encoding. */
function guess(bytes: Buffer): string {
  const lines = bytes.toString('latin1').split(/\r\n?|\n/);
  // oxlint-disable-next-line no-control-regex -- what ASCII is
  const said = lines.filter((line) => /[^\u0000-\u007f]/.test(line)).join('\n');
  const [best] = analyse(Buffer.from(said, 'latin1'));
  if (best === undefined || best.confidence < minConfidence) return mostCommon;
  try {
    return new TextDecoder(best.name).encoding;
  } catch {
    return mostCommon;
  }
}
