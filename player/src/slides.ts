import { type CarouselImage, type FeedItem } from '@reelfeed/client';

/** What the player shows at one stop of the column. */
export type Slide = {
  readonly id: string;
  readonly item: FeedItem;
  readonly media:
    | { readonly kind: 'video'; /** Null until a token is there. */ readonly url: string | null }
    /** Addresses of protected pictures are empty until a token is there. */
    | { readonly kind: 'pictures'; readonly pictures: readonly CarouselImage[] };
  /** The position of the clip in the video carousel that it came from. */
  readonly member: { readonly position: number; readonly count: number } | null;
};

/**
 * The slides of one feed item: none for what cannot be played here (a stream that has not begun, a
 * carousel without pictures), several for a video carousel, otherwise one.
 */
export function slidesOf(item: FeedItem): Slide[] {
  if (item.contentType === 'video_carousel') {
    const members = (item.videos ?? []).flatMap(videoSlide);
    return members.map((slide, index) => ({
      ...slide,
      member: { position: index + 1, count: members.length },
    }));
  }
  if (item.contentType === 'carousel') return pictureSlide(item);
  return videoSlide(item);
}

function videoSlide(item: FeedItem): Slide[] {
  const url = webAddress(item.streamingUrl);
  const isPlayable = url !== null || item.protected;
  if (!isPlayable || item.liveStreamStatus === 'idle') return [];
  return [{ id: item.id, item, media: { kind: 'video', url }, member: null }];
}

function pictureSlide(item: FeedItem): Slide[] {
  const pictures = item.images.filter(
    ({ imageUrl }) => item.protected || webAddress(imageUrl) !== null,
  );
  if (pictures.length === 0) return [];
  const ordered = pictures.toSorted((a, b) => a.position - b.position);
  return [{ id: item.id, item, media: { kind: 'pictures', pictures: ordered }, member: null }];
}

/** Null for anything but http(s): a link with another scheme could run code when it is followed. */
export function webAddress(address: string | null): string | null {
  if (address === null || !URL.canParse(address)) return null;
  return /^https?:$/.test(new URL(address).protocol) ? address : null;
}
