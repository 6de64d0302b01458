/** The thumbnail fields of an item, or of a permission to watch it. */
type Pictured = {
  readonly thumbnailUrl?: string | null;
  readonly thumbnails?: readonly {
    readonly url: string;
    readonly type: string;
    readonly width: number;
  }[];
};

/**
 * The address of the thumbnail: the smallest WebP with at least this width in pixels, otherwise the
 * largest. Every supported browser shows WebP, which takes about half as many bytes as JPEG; older
 * items only have the JPEG.
 */
export function posterOf(
  { thumbnails = [], thumbnailUrl }: Pictured,
  leastWidth = Infinity,
): string | null {
  const webps = thumbnails.filter(({ type }) => type === 'image/webp');
  // Older browsers have no `toSorted`; the filtered list is our own copy.
  webps.sort((a, b) => a.width - b.width);
  const webp = webps.find(({ width }) => width >= leastWidth) ?? webps[webps.length - 1];
  return webp?.url ?? thumbnailUrl ?? null;
}
