/** One visit of a viewer: clip after clip, with a swipe between them. */
import type { FeedClips } from './feed-clips.ts';
import { clipsInVisit } from './decisions.ts';
import { between, randomFrom } from './random.ts';
import { watchClip, type WatchMoment } from './view.ts';
import type { DemoViewer } from './viewers.ts';

export type DemoVisit = { viewer: DemoViewer; startMs: number };

/** The id of the session. */
export function visitId({ viewer, startMs }: DemoVisit): string {
  return `${viewer.name}-${startMs}`;
}

/**
 * The events that the viewer's app reports, in order; times count from the beginning of the visit.
 * Events of a clip depend only on the visit and the clip, and not on what else is in the feed.
 */
export function visitMoments(visit: DemoVisit, { feedId, clips }: FeedClips): WatchMoment[] {
  const { viewer } = visit;
  const id = visitId(visit);
  const seen = clips.slice(0, clipsInVisit(viewer, clips.length, randomFrom(id)));
  const moments: WatchMoment[] = [];
  let atMs = 0;
  for (const [position, clip] of seen.entries()) {
    const { id: contentId } = clip;
    const data = { position, entryPoint: 'feed' as const, ...(feedId !== null && { feedId }) };
    moments.push({ atMs, event: { event: 'impression', contentId, data } });
    const random = randomFrom(`${id} ${contentId}`);
    const view = watchClip(viewer, clip, random);
    for (const moment of view.moments) moments.push({ ...moment, atMs: atMs + moment.atMs });
    atMs += view.endMs + Math.round(between(random, 100, 500));
    const next = seen[position + 1];
    if (next === undefined) continue;
    const left = { fromContentId: contentId, watchTimeOnFrom: view.watchTime, direction: 'up' };
    moments.push({ atMs, event: { event: 'swipe', contentId: next.id, data: left } });
  }
  return moments;
}
