/** The feed as a viewer reads it, through the client library. */
import { createReelfeed, type FeedItem } from '@reelfeed/client';

/** The address and key that viewers use. */
export type FeedAccess = { baseUrl: string; publishableKey: string };

/** In the form the client library takes. Anonymous viewers have no user id. */
export type ViewerIdentity = {
  userId?: string;
  deviceId: string;
  device: 'ios' | 'android' | 'web';
  country: string;
};

/** The properties of a playable item that matter to a simulated viewer. */
export type FeedClip = {
  id: string;
  title: string;
  tags: readonly string[];
  /** In seconds. */
  duration: number;
  /** Picture size in pixels. */
  shortSide: number;
};

export type FeedClips = { feedId: string | null; clips: readonly FeedClip[] };

const clipsPerPage = 10;
const maxClips = 50;

/**
 * Reads page after page, to the end of the feed or fifty clips. Throws what the client library
 * throws.
 */
export async function readClips(
  access: FeedAccess,
  identity: ViewerIdentity,
  sessionId: string,
  signal: AbortSignal,
): Promise<FeedClips> {
  const { country } = identity;
  const reelfeed = createReelfeed({ ...access, ...identity });
  const clips: FeedClip[] = [];
  let feedId: string | null = null;
  for await (const page of reelfeed.feedPages({
    limit: clipsPerPage,
    sessionId,
    country,
    signal,
  })) {
    feedId ??= page.feedId;
    clips.push(...page.items.flatMap(clipOf));
    if (clips.length >= maxClips) break;
  }
  return { feedId, clips };
}

/** Returns nothing for items without a duration, such as images and live streams. */
function clipOf({ id, title, tags, duration, width, height }: FeedItem): FeedClip[] {
  if (duration === null || duration <= 0) return [];
  return [{ id, title, tags, duration, shortSide: Math.min(width ?? 0, height ?? 0) }];
}
