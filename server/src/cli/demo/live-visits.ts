/** Visits in real time. */
import { createReelfeed, EventSender } from '@reelfeed/client';
import { sleep } from '../../platform/async/lifecycle.ts';
import { autoAdvanceFlag } from './experiments.ts';
import { readClips, type FeedAccess } from './feed-clips.ts';
import { between } from './random.ts';
import { visitMoments, visitId, type DemoVisit } from './visit.ts';
import { whoComes } from './visiting-hours.ts';
import type { DemoViewer } from './viewers.ts';

/** Pause between two visits. */
const shortestPauseMs = 1_000;
const longestPauseMs = 8_000;

/** Simulates one viewer at a time until the signal aborts. Throws what reading the feed throws. */
export async function runLiveVisits(
  access: FeedAccess,
  viewers: readonly DemoViewer[],
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const startMs = Date.now();
    await watchNow(access, { viewer: whoComes(viewers, startMs, Math.random), startMs }, signal);
    await sleep(between(Math.random, shortestPauseMs, longestPauseMs), signal);
  }
}

/**
 * Events reported when the demo stops are still sent: the service keeps answering until this
 * returns.
 */
async function watchNow(
  access: FeedAccess,
  planned: DemoVisit,
  signal: AbortSignal,
): Promise<void> {
  const visit = await asConfigured(access, planned, signal);
  const { identity } = visit.viewer;
  const sessionId = visitId(visit);
  const feed = await readClips(access, identity, sessionId, signal);
  const sender = new EventSender({ ...access, ...identity, sessionId });
  const startedAt = performance.now();
  try {
    for (const { atMs, event } of visitMoments(visit, feed)) {
      await sleep(Math.max(0, startedAt + atMs - performance.now()), signal);
      if (signal.aborted) return;
      sender.track(event);
    }
  } finally {
    await sender.close();
  }
}

/** The visit, adjusted to the settings and flags that the viewer gets. */
async function asConfigured(
  access: FeedAccess,
  visit: DemoVisit,
  signal: AbortSignal,
): Promise<DemoVisit> {
  const { viewer } = visit;
  const { country } = viewer.identity;
  const { flags } = await createReelfeed({ ...access, ...viewer.identity }).config({
    country,
    signal,
  });
  if (flags[autoAdvanceFlag] !== true) return visit;
  // Halves the probability of leaving after a clip.
  return { ...visit, viewer: { ...viewer, staying: 1 - (1 - viewer.staying) / 2 } };
}
