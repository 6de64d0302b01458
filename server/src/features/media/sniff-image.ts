/** The image formats that may reach the decoder. */
export type ImageFormat = 'jpeg' | 'png' | 'webp' | 'avif' | 'heic';

const avifBrands = new Set(['avif', 'avis']);
const heicBrands = new Set(['heic', 'heix', 'heim', 'heis', 'mif1', 'msf1']);

/**
 * Detects an image's format from its first bytes. Returns null for anything else, including SVG.
 * File names and declared types are ignored.
 */
export function sniffImage(head: Uint8Array): ImageFormat | null {
  const text = (start: number, end: number) =>
    String.fromCharCode(...head.subarray(start, Math.min(end, head.length)));
  if (head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff) return 'jpeg';
  if (text(0, 8) === '\x89PNG\r\n\x1a\n') return 'png';
  if (text(0, 4) === 'RIFF' && text(8, 12) === 'WEBP') return 'webp';
  if (text(4, 8) !== 'ftyp') return null;
  const brand = text(8, 12);
  if (avifBrands.has(brand)) return 'avif';
  // `mif1` can be any image in this container; AVIF then appears among the compatible brands.
  if (heicBrands.has(brand)) return text(16, 64).includes('avif') ? 'avif' : 'heic';
  return null;
}
