/** One clip in a viewer's feed: what the app's player reports about it, and when. */
import type { EngagementEvent } from '@reelfeed/client';
import { playOver, type Playback } from './connection.ts';
import { decide, type VisitorDecision } from './decisions.ts';
import type { FeedClip } from './feed-clips.ts';
import type { Random } from './random.ts';
import type { DemoViewer } from './viewers.ts';

/** An event at a time after the start. */
export type WatchMoment = { atMs: number; event: EngagementEvent };

export type View = {
  moments: readonly WatchMoment[];
  /** Seconds of playback. */
  watchTime: number;
  /** When the viewer leaves. */
  endMs: number;
};

/** An event at a position in the clip, in seconds. */
type Mark = { second: number; event: EngagementEvent };

const progressSeconds = 5;

export function watchClip(viewer: DemoViewer, clip: FeedClip, random: Random): View {
  const decision = decide(viewer, clip, random);
  const playback = playOver(viewer.connection, clip, decision.watchSeconds, random);
  if (playback.failure !== null) return failedView(clip, playback.startupMs, playback.failure);
  if (playback.startupMs > viewer.waitsMs) {
    return { moments: [], watchTime: 0, endMs: Math.round(viewer.waitsMs) };
  }
  const marks = [
    startOf(clip, playback),
    ...progressOf(clip, playback, decision.watchSeconds),
    ...qualityOf(clip, playback, decision.watchSeconds),
    ...stallsOf(clip, playback),
    ...reactionsOf(clip, decision),
  ].toSorted((a, b) => a.second - b.second);
  const moments: WatchMoment[] = [];
  let stalledMs = 0;
  for (const { second, event } of marks) {
    // A stall is reported when it ends.
    if (event.event === 'rebuffer') stalledMs += event.data.duration;
    moments.push({ atMs: Math.round(playback.startupMs + stalledMs + second * 1_000), event });
  }
  const endMs = moments.at(-1)?.atMs ?? 0;
  return { moments, watchTime: rounded(decision.watchSeconds), endMs };
}

/** The viewer sees the player give up and moves on a moment later. */
function failedView(
  { id: contentId }: FeedClip,
  afterMs: number,
  failure: NonNullable<Playback['failure']>,
): View {
  const event: EngagementEvent = { event: 'error', contentId, data: failure };
  return { moments: [{ atMs: afterMs, event }], watchTime: 0, endMs: afterMs + 1_200 };
}

function startOf({ id: contentId }: FeedClip, { startupMs, firstSide }: Playback): Mark {
  const quality = { rendition: nameOf(firstSide), codec: codecOf(firstSide) };
  const data = { startupTime: startupMs, ...quality, autoplay: true };
  return { second: 0, event: { event: 'playStart', contentId, data } };
}

/** Progress every five seconds, at the end of the clip and where the viewer leaves. */
function progressOf(clip: FeedClip, playback: Playback, watchSeconds: number): Mark[] {
  const { id: contentId, duration } = clip;
  const isCompleted = watchSeconds >= duration;
  const seconds = new Set([watchSeconds, ...(isCompleted ? [duration] : [])]);
  for (let at = progressSeconds; at < watchSeconds; at += progressSeconds) seconds.add(at);
  const marks = Array.from(seconds, (second): Mark => {
    const data = {
      currentTime: rounded(second <= duration ? second : second % duration),
      duration,
      percentComplete: rounded(Math.min(100, (second / duration) * 100)),
      watchTime: rounded(second),
      rendition: renditionAt(playback, second),
    };
    return { second, event: { event: 'watchProgress', contentId, data } };
  });
  if (!isCompleted) return marks;
  const data = { watchTime: rounded(duration), looped: false, loopCount: 0 };
  return [...marks, { second: duration, event: { event: 'completion', contentId, data } }];
}

function qualityOf({ id: contentId }: FeedClip, playback: Playback, watchSeconds: number): Mark[] {
  const { firstSide, laterSide, changesAtSecond: second } = playback;
  if (firstSide === laterSide || second >= watchSeconds) return [];
  const data = { fromQuality: nameOf(firstSide), toQuality: nameOf(laterSide) };
  return [{ second, event: { event: 'qualityChange', contentId, data } }];
}

function stallsOf({ id: contentId, duration }: FeedClip, playback: Playback): Mark[] {
  return playback.stalls.map(({ second, durationMs }) => {
    const currentTime = rounded(second % duration);
    const data = { duration: durationMs, currentTime, rendition: renditionAt(playback, second) };
    return { second, event: { event: 'rebuffer', contentId, data } };
  });
}

/** Likes happen during playback; saves and shares follow after it. */
function reactionsOf({ id: contentId }: FeedClip, decision: VisitorDecision): Mark[] {
  const { watchSeconds, likes, saves, sharesTo } = decision;
  const marks: Mark[] = [];
  if (likes) marks.push({ second: watchSeconds * 0.7, event: { event: 'like', contentId } });
  if (saves) marks.push({ second: watchSeconds * 0.9, event: { event: 'save', contentId } });
  if (sharesTo !== null) {
    const data = { platform: sharesTo };
    marks.push({ second: watchSeconds * 0.95, event: { event: 'share', contentId, data } });
  }
  return marks;
}

function renditionAt({ firstSide, laterSide, changesAtSecond }: Playback, second: number): string {
  return nameOf(second < changesAtSecond ? firstSide : laterSide);
}

function nameOf(shortSide: number): string {
  return shortSide > 0 ? `${shortSide}p` : 'audio';
}

function codecOf(shortSide: number): string {
  return shortSide > 720 ? 'avc1.640028' : 'avc1.64001f';
}

/** Rounds to milliseconds. */
function rounded(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}
