import { type CarouselImage, type FeedItem } from '../types.ts';

/** One slide of the player's column. */
export type Slide = {
  readonly id: string;
  readonly item: FeedItem;
  readonly media:
    | {
        readonly kind: 'video';
        /** Null until a token is available. */ readonly url: string | null;
      }
    /** Addresses of protected pictures are empty until a token is available. */
    | { readonly kind: 'pictures'; readonly pictures: readonly CarouselImage[] }
    /** A live stream that has not begun. */
    | { readonly kind: 'announcement' };
  /** The clip's position within its video carousel. */
  readonly member: { readonly position: number; readonly count: number } | null;
};

/** Called for an item that cannot be turned into a slide. */
export type OnBroken = (item: { readonly id: string }, error: unknown) => void;

/**
 * The slides of one feed item: none if it cannot be played here (a stream that has not begun,
 * unless `announced`; a carousel without pictures), several for a video carousel, otherwise one. A
 * malformed item has none either; other items of its page or carousel are not affected.
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

/**
 * The service may be of a different version than the player, so a clip plays even without counts.
 */
function slideOf(item: FeedItem): Slide[] {
  const counted = { ...item, engagement: { ...noEngagement, ...item.engagement } };
  return item.contentType === 'carousel' ? pictureSlide(counted) : videoSlide(counted);
}

function videoSlide(item: FeedItem): Slide[] {
  if (item.liveStreamStatus === 'idle') return [];
  const url = webAddress(item.streamingUrl);
  if (url === null && !item.protected) {
    // A stream that has ended has no address until its recording is ready.
    if (item.contentType === 'live_stream') return [];
    throw new TypeError(`The ${item.contentType} has no streaming URL.`);
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

/** Null for anything but http(s): a link with another scheme could execute code. */
export function webAddress(address: string | null): string | null {
  if (address === null) return null;
  try {
    return /^https?:$/.test(new URL(address).protocol) ? address : null;
  } catch {
    return null;
  }
}
