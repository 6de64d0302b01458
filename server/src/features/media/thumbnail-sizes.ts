/** The thumbnails of an item: the engine writes them, and URLs are built from their names. */

export type ThumbnailSize = {
  /** File name without the extension. */
  readonly name: string;
  readonly width: number;
  readonly height: number;
};

/** Each size is written in both formats. */
export const THUMBNAIL_FORMATS = [
  { ending: 'jpg', type: 'image/jpeg' },
  { ending: 'webp', type: 'image/webp' },
] as const;

/** Size of the waveform that stands in for the picture of an audio-only item. */
export const WAVEFORM_SIZE = { width: 720, height: 1280 } as const;

const SHORT_SIDES = [
  { name: 'thumbnail', pixels: 720 },
  { name: 'thumbnail-small', pixels: 270 },
] as const;

/** The size scaled to a short side of at most `pixels`, even and never enlarged. */
export function fitShortSide(
  { width, height }: { width: number; height: number },
  pixels: number,
): { width: number; height: number } {
  const scale = Math.min(1, pixels / Math.min(width, height));
  const even = (side: number): number => Math.max(2, Math.floor((side * scale) / 2) * 2);
  return { width: even(width), height: even(height) };
}

/** The thumbnail sizes of a picture, largest first. */
export function thumbnailSizes(picture: { width: number; height: number }): ThumbnailSize[] {
  return SHORT_SIDES.map(({ name, pixels }) => ({ name, ...fitShortSide(picture, pixels) }));
}
