/**
 * Two viewers with opposite tastes who have seen three clips each, so that their feeds show what
 * the service has learned. All other viewers have seen every clip by now.
 */
import { EventSender } from '@reelfeed/client';
import { readClips, type FeedAccess } from './feed-clips.ts';

type Taste = { readonly userId: string; readonly likes: string; readonly dislikes: string };

export const oppositeTastes: readonly Taste[] = [
  { userId: 'maya-likes-nature', likes: 'nature', dislikes: 'calm' },
  { userId: 'carl-likes-calm', likes: 'calm', dislikes: 'nature' },
];

/**
 * Each watches two clips of the liked tag to the end, likes them, and skips one of the other tag.
 */
export async function sendOppositeTastes(access: FeedAccess, signal: AbortSignal): Promise<void> {
  const { clips } = await readClips(
    access,
    { deviceId: 'opposite-tastes', device: 'web', country: 'DE' },
    'opposite-tastes',
    signal,
  );
  // The order is the same on each start, so the same clips stay unseen.
  const sorted = clips.toSorted((a, b) => (a.title < b.title ? -1 : 1));
  for (const { userId, likes, dislikes } of oppositeTastes) {
    const of = (tag: string) => sorted.filter(({ tags }) => tags.includes(tag));
    const sender = new EventSender({ ...access, userId, deviceId: `${userId}-device` });
    try {
      for (const { id: contentId, duration } of of(likes).slice(0, 2)) {
        const data = { watchTime: duration, looped: false, loopCount: 0 };
        sender.track({ event: 'completion', contentId, data });
        sender.track({ event: 'like', contentId });
      }
      const [left] = of(dislikes);
      const [next] = of(likes);
      if (left !== undefined && next !== undefined) {
        const data = { fromContentId: left.id, watchTimeOnFrom: 0.6, direction: 'up' as const };
        sender.track({ event: 'playStart', contentId: left.id, data: { startupTime: 90 } });
        sender.track({ event: 'swipe', contentId: next.id, data });
      }
      await sender.flush(signal);
    } finally {
      await sender.close();
    }
  }
}
