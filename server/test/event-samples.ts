/** Valid engagement events of each kind for tests. */
import type { EventKind } from '../src/features/events/events.ts';
import { newUuid7 } from '../src/platform/values/uuid7.ts';

/** `data` with every field in the event table. */
export const sampleData: Record<EventKind, Record<string, unknown>> = {
  impression: { position: 0, entryPoint: 'feed', feedId: 'fed_1' },
  playStart: { startupTime: 180, rendition: '720p', codec: 'avc1', autoplay: true },
  watchProgress: { currentTime: 3.5, duration: 15, percentComplete: 23.3, rendition: '720p' },
  completion: { watchTime: 15.2, looped: true, loopCount: 2 },
  swipe: { watchTimeOnFrom: 4.2, direction: 'up' },
  like: {},
  unlike: {},
  share: { platform: 'messages' },
  save: {},
  unsave: {},
  notInterested: { scope: 'item', undo: false },
  report: { reason: 'spam', undo: false },
  rebuffer: { duration: 400, currentTime: 3.5, rendition: '720p' },
  qualityChange: { fromQuality: '720p', toQuality: '1080p' },
  error: { errorCode: 'MEDIA_3', errorMessage: 'It could not be decoded' },
};

/** A valid event of a kind; a swipe goes from the item to itself. */
export function sampleEvent(
  kind: EventKind,
  contentId: string,
  fields: Record<string, unknown> = {},
): Record<string, unknown> {
  const from = kind === 'swipe' ? { fromContentId: contentId } : {};
  return {
    event: kind,
    contentId,
    eventId: newUuid7(),
    userId: 'ada',
    deviceId: 'phone-1',
    sessionId: 'session-1',
    timestamp: new Date().toISOString(),
    data: { ...from, ...sampleData[kind] },
    ...fields,
  };
}
