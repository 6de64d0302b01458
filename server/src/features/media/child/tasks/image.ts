/** Still images: decoded within limits, rotated upright and re-encoded without metadata. */
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import sharp from 'sharp';
import { MediaError } from '../../media-error.ts';
import { sniffImage, type ImageFormat } from '../../sniff-image.ts';
import type { ImageResult, ImageTask } from '../../tasks.ts';
import { writeStills } from '../picture/still.ts';

/**
 * Larger than cameras produce, but small enough for the child's memory: AVIF and HEIC decoders hold
 * several copies of the whole picture, while the others usually hold only some rows.
 */
const maxInputPixels: Record<ImageFormat, number> = {
  jpeg: 100_000_000,
  png: 100_000_000,
  webp: 100_000_000,
  avif: 50_000_000,
  heic: 50_000_000,
};

/** Bounding box of each size; images are never enlarged. */
const sizes = {
  large: { width: 1440, height: 2560, quality: 85 },
  small: { width: 540, height: 960, quality: 78 },
} as const;

/**
 * Writes `large.jpg` and `small.jpg`. Transparent areas become white.
 * @throws {MediaError} UNSUPPORTED_MEDIA, CORRUPT_MEDIA
 */
export async function convertImage({
  asThumbnails = false,
  outputDir,
  sourcePath,
}: ImageTask): Promise<ImageResult> {
  sharp.concurrency(1);
  const source = await readFile(sourcePath);
  const format = sniffImage(source) ?? 'jpeg';
  const maxPixels = maxInputPixels[format];
  try {
    const readable = format === 'heic' ? await fromHeic(source, maxPixels) : source;
    const { width, height } = await convert(readable, outputDir, 'large', maxPixels);
    if (asThumbnails) return await thumbnailsOf(path.join(outputDir, 'large.jpg'), outputDir);
    await convert(path.join(outputDir, 'large.jpg'), outputDir, 'small', maxPixels);
    return { width, height };
  } catch (error) {
    throw error instanceof MediaError ? error : translate(error, maxPixels);
  }
}

async function thumbnailsOf(image: string, outputDir: string): Promise<ImageResult> {
  const { data, info } = await sharp(image).raw().toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  const hash = await writeStills({ data, width, height }, outputDir);
  await rm(image);
  return { width, height, hash };
}

/** Loads the HEIC decoder, which no other format needs. */
async function fromHeic(source: Buffer, maxPixels: number): Promise<Buffer> {
  const { decodeHeic } = await import('../picture/heic.ts');
  return decodeHeic(source, { maxPixels, ...sizes.large });
}

async function convert(
  source: Buffer | string,
  outputDir: string,
  size: keyof typeof sizes,
  maxPixels: number,
) {
  const { width, height, quality } = sizes[size];
  return sharp(source, { limitInputPixels: maxPixels, failOn: 'error' })
    .autoOrient()
    .resize({ width, height, fit: 'inside', withoutEnlargement: true })
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb')
    .jpeg({ quality, mozjpeg: false })
    .toFile(path.join(outputDir, `${size}.jpg`));
}

function translate(error: unknown, maxPixels: number): MediaError {
  const detail = error instanceof Error ? error.message : String(error);
  const [code, message] = /pixel limit/i.test(detail)
    ? (['UNSUPPORTED_MEDIA', `The image has more than ${maxPixels} pixels.`] as const)
    : /unsupported|no decode|codec/i.test(detail)
      ? (['UNSUPPORTED_MEDIA', 'This kind of image is not supported.'] as const)
      : (['CORRUPT_MEDIA', 'The image is damaged or truncated.'] as const);
  return new MediaError(code, message, { detail, retryable: false });
}
