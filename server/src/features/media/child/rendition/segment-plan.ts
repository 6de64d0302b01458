import type { VideoRung } from '../../ladder.ts';
import { gopFrames } from '../engine/encoders.ts';

/**
 * The pictures at which the segments of a rendition start. All renditions of a video share the same
 * start times, so that players can switch at each of them.
 */
export type SegmentPlan = {
  /** Pictures in a shorter first segment, or 0 if it has the regular length. */
  readonly leadFrames: number;
  /** Pictures in every other segment; a multiple of the GOP. */
  readonly segmentFrames: number;
};

/**
 * Plans the segments of a rung. With `hasShortStart`, the first one has half a GOP, which is one
 * second: a cold start waits for all of it, and a player that has measured its bandwidth with it
 * can choose another rendition for the second segment.
 */
export function planSegments(
  rung: VideoRung,
  { segmentSeconds, hasShortStart }: { segmentSeconds: number; hasShortStart: boolean },
): SegmentPlan {
  const group = gopFrames(rung);
  const groupSeconds = (group * rung.frameRate.den) / rung.frameRate.num;
  return {
    leadFrames: hasShortStart ? Math.ceil(group / 2) : 0,
    segmentFrames: group * Math.ceil(segmentSeconds / groupSeconds - 0.001),
  };
}

export function startsSegment(
  { leadFrames, segmentFrames }: SegmentPlan,
  frame: number | bigint,
): boolean {
  const number = Number(frame);
  if (number === 0) return true;
  return number >= leadFrames && (number - leadFrames) % segmentFrames === 0;
}
