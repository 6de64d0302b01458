/** The feed as a viewer reads it, through the client library. */
import { createReelfeed, type FeedItem } from '@reelfeed/client';

/** How viewers reach the demo. */
export type FeedAccess = { baseUrl: string; publishableKey: string };

/** As the client library takes it. Who has not signed in has no user id. */
export type ViewerIdentity = {
  userId?: string;
  deviceId: string;
  device: 'ios' | 'android' | 'web';
  country: string;
};

/** What matters to a viewer of an item that plays. */
export type FeedClip = {
  id: string;
  title: string;
  tags: readonly string[];
  /** Length in seconds. */
  duration: number;
  /** Size of the picture in pixels. */
  shortSide: number;
};

export type FeedClips = { feedId: string | null; clips: readonly FeedClip[] };

const clipsPerPage = 10;
const maxClips = 50;

/** Reads page after page, to the end or fifty clips. Throws as the client library does. */
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

/** None of what has no length, such as pictures and live streams. */
function clipOf({ id, title, tags, duration, width, height }: FeedItem): FeedClip[] {
  if (duration === null || duration <= 0) return [];
  return [{ id, title, tags, duration, shortSide: Math.min(width ?? 0, height ?? 0) }];
}
