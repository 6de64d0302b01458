import type { MediaSource } from '../content/item-media/item-media.ts';

export type DurationLimits = {
  readonly maxDurationMs: number;
  readonly maxLiveDurationMs: number;
  /** Deadline of an attempt for an item of `maxDurationMs`. */
  readonly deadlineMs: number;
};

const longestDeadlineMs = 24 * 3_600_000;

/** Recordings of live streams may be longer than videos. */
export function maxDurationOf(
  limits: DurationLimits,
  { isVideo }: Pick<MediaSource, 'isVideo'>,
): number {
  const { maxDurationMs, maxLiveDurationMs } = limits;
  return isVideo ? maxDurationMs : Math.max(maxDurationMs, maxLiveDurationMs);
}

/** An attempt's deadline scales with the maximum allowed duration. */
export function deadlineOf(limits: DurationLimits, source: Pick<MediaSource, 'isVideo'>): number {
  const longer = maxDurationOf(limits, source) / limits.maxDurationMs;
  const deadlineMs = Math.ceil(limits.deadlineMs * longer);
  return Math.min(deadlineMs, Math.max(limits.deadlineMs, longestDeadlineMs));
}
