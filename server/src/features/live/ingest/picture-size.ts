import type { BitReader } from './bit-reader.ts';
import { IngestError } from './ingest-error.ts';

export type PictureSize = { readonly width: number; readonly height: number };

const maxSidePixels = 8_192;

/** @throws {IngestError} for an implausible size, or one read past the end of the header */
export function requirePictureSize(reader: BitReader, { width, height }: PictureSize): PictureSize {
  const isUsable = (side: number) => side > 0 && side <= maxSidePixels;
  if (reader.isPastEnd || !isUsable(width) || !isUsable(height)) {
    throw new IngestError('the picture size cannot be read');
  }
  return { width, height };
}
