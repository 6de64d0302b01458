import { type CarouselImage, type FeedItem } from '../types.ts';

/** What the player shows at one stop of the column. */
export type Slide = {
  readonly id: string;
  readonly item: FeedItem;
  readonly media:
    | { readonly kind: 'video'; /** Null until a token is there. */ readonly url: string | null }
    /** Addresses of protected pictures are empty until a token is there. */
    | { readonly kind: 'pictures'; readonly pictures: readonly CarouselImage[] }
    /** A live stream that has not begun. */
    | { readonly kind: 'announcement' };
  /** The position of the clip in the video carousel that it came from. */
  readonly member: { readonly position: number; readonly count: number } | null;
};

/** Told of an item that no slide can be made of. */
export type OnBroken = (item: { readonly id: string }, error: unknown) => void;

/**
 * The slides of one feed item: none for what cannot be played here (a stream that has not begun, unless
 * it is `announced`; a carousel without pictures), several for a video carousel, otherwise one. An item
 * that is not what the service promises has none either; the others of its page, or of its carousel,
 * are not affected.
 */
export function slidesOf(item: FeedItem, onBroken: OnBroken, announced = false): Slide[] {
  if (announced && item.liveStreamStatus === 'idle') {
    return [{ id: item.id, item, media: { kind: 'announcement' }, member: null }];
  }
  return attempt(item, onBroken, () => {
    if (item.contentType !== 'video_carousel') return slideOf(item);
    const members = (item.videos ?? []).flatMap((video) =>
      attempt(video, onBroken, () => slideOf(video)),
    );
    return members.map((slide, index) => ({
      ...slide,
      member: { position: index + 1, count: members.length },
    }));
  });
}

/** An item without an id can't be reported, so it is dropped silently. */
function attempt(item: FeedItem, onBroken: OnBroken, make: () => Slide[]): Slide[] {
  try {
    return make();
  } catch (error) {
    if (typeof item?.id === 'string') onBroken(item, error);
    return [];
  }
}

const noEngagement = { views: 0, likes: 0, shares: 0, saves: 0 };

/** The service may be of another version than the player: without counts, a clip still plays. */
function slideOf(item: FeedItem): Slide[] {
  const counted = { ...item, engagement: { ...noEngagement, ...item.engagement } };
  return item.contentType === 'carousel' ? pictureSlide(counted) : videoSlide(counted);
}

function videoSlide(item: FeedItem): Slide[] {
  if (item.liveStreamStatus === 'idle') return [];
  const url = webAddress(item.streamingUrl);
  if (url === null && !item.protected) {
    // A stream that has ended has no address until its recording is made.
    if (item.contentType === 'live_stream') return [];
    throw new TypeError(`The ${item.contentType} has no address to play from.`);
  }
  return [{ id: item.id, item, media: { kind: 'video', url }, member: null }];
}

function pictureSlide(item: FeedItem): Slide[] {
  const pictures = item.images.filter(
    ({ imageUrl }) => item.protected || webAddress(imageUrl) !== null,
  );
  if (pictures.length === 0) return [];
  pictures.sort((a, b) => a.position - b.position);
  return [{ id: item.id, item, media: { kind: 'pictures', pictures }, member: null }];
}

/** Null for anything but http(s): a link with another scheme could run code when it is followed. */
export function webAddress(address: string | null): string | null {
  if (address === null) return null;
  try {
    return /^https?:$/.test(new URL(address).protocol) ? address : null;
  } catch {
    return null;
  }
}
