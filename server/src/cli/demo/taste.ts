/** Models a viewer's taste for clips with arbitrary tags. */
import { randomFrom } from './random.ts';
import type { FeedClip } from './feed-clips.ts';
import type { DemoViewer } from './viewers.ts';

/**
 * Averages over several tags are closer together than single values. This spreads them out again.
 */
const contrast = 1.8;

/**
 * A viewer's liking of a clip, from 0 to 1: the mean of the viewer's taste for its tags and for the
 * clip itself.
 */
export function appealOf({ name }: DemoViewer, { title, tags }: FeedClip): number {
  const likings = [`clip ${title}`, ...tags.map((tag) => `tag ${tag}`)].map((what) =>
    likingOf(name, what),
  );
  const mean = likings.reduce((sum, liking) => sum + liking, 0) / likings.length;
  return Math.min(1, Math.max(0, 0.5 + (mean - 0.5) * contrast));
}

/** Half of each value is the same for all viewers, so that some clips do better than others. */
function likingOf(viewer: string, what: string): number {
  return (randomFrom(what)() + randomFrom(`${viewer} ${what}`)()) / 2;
}
