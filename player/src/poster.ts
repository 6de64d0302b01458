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
 * The address of the thumbnail: the largest WebP, which every browser that runs the player shows and
 * which takes about half of the JPEG's bytes; older items have the JPEG alone.
 */
export function posterOf({ thumbnails = [], thumbnailUrl }: Pictured): string | null {
  const webps = thumbnails.filter(({ type }) => type === 'image/webp');
  // Older browsers have no `toSorted`; the filtered list is our own.
  webps.sort((a, b) => b.width - a.width);
  const [webp] = webps;
  return webp?.url ?? thumbnailUrl ?? null;
}
