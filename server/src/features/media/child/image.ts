/** Still images: decoded within bounds, turned upright, and written again without any metadata. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import sharp from 'sharp';
import { MediaError } from '../media-error.ts';
import { sniffImage } from '../sniff-image.ts';
import type { ImageResult, ImageTask } from '../tasks.ts';

/** Far above any camera, far below what fills the memory of the child. */
const maxInputPixels = 100_000_000;

/** The box that each size fits into; an image is never enlarged. */
const sizes = {
  large: { width: 1440, height: 2560, quality: 85 },
  small: { width: 540, height: 960, quality: 78 },
} as const;

/**
 * Writes `large.jpg` and `small.jpg`. Transparent parts become white.
 *
 * @throws MediaError UNSUPPORTED_MEDIA, CORRUPT_MEDIA
 */
export async function convertImage({ sourcePath, outputDir }: ImageTask): Promise<ImageResult> {
  sharp.concurrency(1);
  const source = await readFile(sourcePath);
  try {
    const isHeic = sniffImage(source) === 'heic';
    const readable = isHeic ? await fromHeic(source) : source;
    const { width, height } = await convert(readable, outputDir, 'large');
    await convert(path.join(outputDir, 'large.jpg'), outputDir, 'small');
    return { width, height };
  } catch (error) {
    throw error instanceof MediaError ? error : translate(error);
  }
}

/** Loads the decoder for HEIC, which no other image needs. */
async function fromHeic(source: Buffer): Promise<Buffer> {
  const { decodeHeic } = await import('./heic.ts');
  return decodeHeic(source, { maxPixels: maxInputPixels, ...sizes.large });
}

async function convert(source: Buffer | string, outputDir: string, size: keyof typeof sizes) {
  const { width, height, quality } = sizes[size];
  return sharp(source, { limitInputPixels: maxInputPixels, failOn: 'error' })
    .autoOrient()
    .resize({ width, height, fit: 'inside', withoutEnlargement: true })
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb')
    .jpeg({ quality, mozjpeg: false })
    .toFile(path.join(outputDir, `${size}.jpg`));
}

function translate(error: unknown): MediaError {
  const detail = error instanceof Error ? error.message : String(error);
  const [code, message] = /pixel limit/i.test(detail)
    ? (['UNSUPPORTED_MEDIA', `The image has more than ${maxInputPixels} pixels.`] as const)
    : /unsupported|no decode|codec/i.test(detail)
      ? (['UNSUPPORTED_MEDIA', 'This kind of image cannot be read here.'] as const)
      : (['CORRUPT_MEDIA', 'The image is damaged or cut off.'] as const);
  return new MediaError(code, message, { detail, retryable: false });
}
