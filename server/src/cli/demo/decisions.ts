/** Decides what a viewer does with one clip. */
import { appealOf } from './taste.ts';
import { between, pickWeighted, type Random } from './random.ts';
import type { FeedClip } from './feed-clips.ts';
import type { DemoViewer } from './viewers.ts';

export type VisitorDecision = {
  /** Seconds of playback until the viewer leaves; longer than the clip if it is replayed. */
  watchSeconds: number;
  likes: boolean;
  saves: boolean;
  sharesTo: string | null;
};

const platforms = [
  ['copy_link', 5],
  ['messages', 4],
  ['email', 1],
] as const;

/** Minimum time before leaving: the viewer has to see what the clip is about. */
const shortestLookSeconds = 0.4;
/** The share of a clip that a viewer must see before liking, saving or sharing it. */
const enoughSeen = 0.6;

export function decide(viewer: DemoViewer, clip: FeedClip, random: Random): VisitorDecision {
  const appeal = appealOf(viewer, clip);
  const wanted =
    random() < 0.1 + 0.8 * appeal ? toTheEnd(clip, appeal, random) : partOf(clip, random);
  const watchSeconds = Math.max(shortestLookSeconds, Math.min(wanted, viewer.patienceSeconds));
  const keenness = watchSeconds >= clip.duration * enoughSeen ? viewer.enthusiasm * appeal : 0;
  return {
    watchSeconds,
    likes: random() < keenness * 0.9,
    saves: random() < keenness * 0.15,
    sharesTo: random() < keenness * 0.12 ? pickWeighted(random, platforms) : null,
  };
}

/** Viewers notice the end a moment late, and replay clips they like very much. */
function toTheEnd({ duration }: FeedClip, appeal: number, random: Random): number {
  const again = random() < appeal * 0.4 ? random() * duration * 1.5 : 0;
  return duration + again + between(random, 0.05, 0.6);
}

/** Most viewers who leave do so early. */
function partOf({ duration }: FeedClip, random: Random): number {
  return duration * 0.95 * random() ** 1.5;
}

/** The number of clips that a viewer sees in one visit, at most `most`. */
export function clipsInVisit({ staying }: DemoViewer, most: number, random: Random): number {
  let clips = 1;
  while (clips < most && random() < staying) clips += 1;
  return clips;
}
