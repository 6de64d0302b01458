import { join } from 'node:path';
import type { Frame } from 'node-av/lib';
import sharp, { type Sharp } from 'sharp';
import { rgbaToThumbHash } from 'thumbhash';
import { THUMBNAIL_FORMATS, thumbnailSizes } from '../../thumbnail-sizes.ts';

/** A picture as packed RGB rows. */
export type Still = {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
};

const JPEG = { quality: 82 } as const;
const WEBP = { quality: 78, effort: 3 } as const;
/** Maximum side of the picture from which the hash is computed. */
const HASH_SIDE = 100;

sharp.concurrency(1);

/** Copies a packed `rgb24` (three bytes per pixel) or `rgba` (four) frame. */
export function stillFromFrame(frame: Frame, bytesPerPixel: 3 | 4 = 3): Still {
  const { width, height } = frame;
  const plane = frame.data?.[0] ?? Buffer.alloc(0);
  const stride = frame.linesize[0] ?? width * bytesPerPixel;
  const rows = Array.from({ length: height }, (_, row) =>
    plane.subarray(row * stride, row * stride + width * bytesPerPixel),
  );
  return { data: Buffer.concat(rows), width, height };
}

export function imageOf({ data, width, height }: Still): Sharp {
  return sharp(data, { raw: { width, height, channels: 3 } });
}

/**
 * Writes a picture's thumbnails to a folder: two sizes, each as JPEG and WebP.
 * @returns the picture's ThumbHash in base64, about 25 bytes, which a player shows until the
 *   thumbnail has loaded
 */
export async function writeStills(still: Still, folder: string): Promise<string> {
  for (const { name, width, height } of thumbnailSizes(still)) {
    const resized = imageOf(still).resize({ width, height, fit: 'fill' });
    for (const { ending } of THUMBNAIL_FORMATS) {
      const encoded = ending === 'jpg' ? resized.clone().jpeg(JPEG) : resized.clone().webp(WEBP);
      await encoded.toFile(join(folder, `${name}.${ending}`));
    }
  }
  const { data, info } = await imageOf(still)
    .resize({ width: HASH_SIDE, height: HASH_SIDE, fit: 'inside', withoutEnlargement: true })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return Buffer.from(rgbaToThumbHash(info.width, info.height, data)).toString('base64');
}

/** Mean brightness (BT.601, 0 to 255), sampled from every fourth pixel of every fourth row. */
export function meanLuma({ data, width, height }: Still): number {
  let sum = 0;
  let count = 0;
  for (let row = 0; row < height; row += 4) {
    for (let column = 0; column < width; column += 4) {
      const at = (row * width + column) * 3;
      sum += 0.299 * (data[at] ?? 0) + 0.587 * (data[at + 1] ?? 0) + 0.114 * (data[at + 2] ?? 0);
      count += 1;
    }
  }
  return sum / count;
}
