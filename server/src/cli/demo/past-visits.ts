/**
 * The visits of the day before the demo was started. Their events come as from devices that were
 * offline: each viewer's sender finds them in its storage.
 *
 * Visits and event ids follow from viewer, hour and clip, so that what a later start sends again
 * counts once, and a clip that is new by then gets views of its own.
 */
import { EventSender, type TrackedEvent } from '@reelfeed/client';
import { readClips, type FeedAccess, type FeedClips } from './feed-clips.ts';
import { momentsOf, visitId, type Visit } from './visit.ts';
import { hourMs, visitsBetween } from './visiting-hours.ts';
import type { DemoViewer } from './viewers.ts';

/** The service accepts events up to 24 hours old; the rest is time for sending. */
const pastMs = 23.5 * hourMs;

/** Sends them, one viewer's after the other's, so that one request is under way at most. */
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
 * What a viewer's device has kept, in the order of time. It follows from the clips and not from the
 * order in which the feed shows them, which changes with what the viewer watches: the clips are taken
 * newest first, by their time-ordered ids.
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
function eventsOf(visit: Visit, feed: FeedClips): TrackedEvent[] {
  const sessionId = visitId(visit);
  const told = new Map<string, number>();
  return momentsOf(visit, feed).map(({ atMs, event }) => {
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
    // What has no answer when the demo stops is made up again by the next start.
    storage: { load: () => kept, save: () => undefined },
  });
  try {
    await sender.flush(signal);
  } finally {
    await sender.close();
  }
}
