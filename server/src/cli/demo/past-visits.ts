/**
 * The visits of the day before the demo was started. Their events arrive like those of devices that
 * were offline: each viewer's sender finds them in its storage.
 *
 * Visits and event ids are derived from viewer, hour and clip. Events that a later start sends
 * again are therefore counted once, and a clip that is new by then gets additional views.
 */
import { EventSender, type TrackedEvent } from '@reelfeed/client';
import { readClips, type FeedAccess, type FeedClips } from './feed-clips.ts';
import { visitMoments, visitId, type DemoVisit } from './visit.ts';
import { hourMs } from '../../platform/values/time.ts';
import { visitsBetween } from './visiting-hours.ts';
import type { DemoViewer } from './viewers.ts';

/** The service accepts events up to 24 hours old; the remainder is time for sending them. */
const pastMs = 23.5 * hourMs;

/** Sends the past visits of one viewer after another, so at most one request is in flight. */
export async function sendPastVisits(
  access: FeedAccess,
  viewers: readonly DemoViewer[],
  signal: AbortSignal,
): Promise<void> {
  for (const viewer of viewers) {
    const feed = await readClips(access, viewer.identity, `${viewer.name}-past`, signal);
    await sendKept(access, pastEvents(viewer, feed, Date.now()), signal);
  }
}

/**
 * The events stored on a viewer's device, in time order. They must not depend on the feed's order,
 * which changes with what the viewer watches, so clips are taken newest first by their time-ordered
 * ids.
 */
export function pastEvents(
  viewer: DemoViewer,
  { feedId, clips }: FeedClips,
  nowMs: number,
): TrackedEvent[] {
  const feed = { feedId, clips: clips.toSorted((a, b) => (a.id < b.id ? 1 : -1)) };
  return visitsBetween(viewer, nowMs - pastMs, nowMs)
    .map((visit) => eventsOf(visit, feed))
    .filter((events) => Date.parse(events.at(-1)?.timestamp ?? '') < nowMs)
    .flat();
}

/** The events as an event queue would have stored them: complete, each with its viewer. */
function eventsOf(visit: DemoVisit, feed: FeedClips): TrackedEvent[] {
  const sessionId = visitId(visit);
  const told = new Map<string, number>();
  return visitMoments(visit, feed).map(({ atMs, event }) => {
    const clipId = event.event === 'swipe' ? event.data.fromContentId : event.contentId;
    const number = (told.get(clipId) ?? 0) + 1;
    told.set(clipId, number);
    return {
      ...visit.viewer.identity,
      ...event,
      sessionId,
      eventId: `${sessionId}-${clipId}-${number}`,
      timestamp: new Date(visit.startMs + atMs).toISOString(),
    };
  });
}

async function sendKept(
  access: FeedAccess,
  events: readonly TrackedEvent[],
  signal: AbortSignal,
): Promise<void> {
  const kept = events.map((event) => JSON.stringify(event)).join('\n');
  const sender = new EventSender({
    ...access,
    maxWaiting: events.length,
    // Events that are unacknowledged when the demo stops are generated again by the next start.
    storage: { load: () => kept, save: () => undefined },
  });
  try {
    await sender.flush(signal);
  } finally {
    await sender.close();
  }
}
