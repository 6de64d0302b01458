/** An item, or a permission to watch it, as far as its thumbnail is concerned. */
type Pictured = {
  readonly thumbnailUrl?: string | null;
  readonly thumbnails?: readonly {
    readonly url: string;
    readonly type: string;
    readonly width: number;
  }[];
};

/**
 * The address of the thumbnail: the smallest WebP that is at least this wide, in pixels, or else the
 * largest. Every browser that runs the player shows WebP, which takes about half of the JPEG's bytes;
 * older items have the JPEG alone.
 */
export function posterOf(
  { thumbnails = [], thumbnailUrl }: Pictured,
  leastWidth = Infinity,
): string | null {
  const webps = thumbnails.filter(({ type }) => type === 'image/webp');
  // Older browsers have no `toSorted`; the filtered list is our own.
  webps.sort((a, b) => a.width - b.width);
  const webp = webps.find(({ width }) => width >= leastWidth) ?? webps[webps.length - 1];
  return webp?.url ?? thumbnailUrl ?? null;
}
