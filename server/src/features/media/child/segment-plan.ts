import type { VideoRung } from '../ladder.ts';
import { gopFrames } from './encoders.ts';

/**
 * At which pictures the segments of a rendition start. All renditions of a video have the same starts
 * in seconds, so that players can switch at each of them.
 */
export type SegmentPlan = {
  /** Pictures of a first segment that is shorter than the others; 0 where it is not. */
  readonly leadFrames: number;
  /** Pictures of each other segment, a whole number of groups of pictures. */
  readonly segmentFrames: number;
};

/**
 * Plans the segments of a rung. With `hasShortStart` the first one has half a group of pictures, which
 * is a second: a cold start waits for the whole of it, and a player that has measured the line by it
 * can choose another rendition for the second one.
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

/** Whether a segment starts with the picture of this number. */
export function startsSegment(
  { leadFrames, segmentFrames }: SegmentPlan,
  frame: number | bigint,
): boolean {
  const number = Number(frame);
  if (number === 0) return true;
  return number >= leadFrames && (number - leadFrames) % segmentFrames === 0;
}
