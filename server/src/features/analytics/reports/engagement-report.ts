import type { CountSource } from './count-source.ts';
import { presentCounted, presentSessions, sumCounters } from './metrics.ts';
import type { Period } from './period.ts';
import type { SegmentKind } from './query-schemas.ts';
import { sumByBucket } from './series.ts';

/** The report of how long viewers stay, and how that differs between parts of the audience. */
export async function reportEngagement(
  counts: CountSource,
  { period, segment }: { period: Period; segment: SegmentKind },
) {
  const { series, segments } = await counts.bySegment(period, segment);
  const present = counts.hasSessions ? presentSessions : () => noSessions;
  const presentSegment = segment === 'tag' ? () => noSessions : present;
  return {
    summary: present(sumCounters(series)),
    segments: segments.map((one) => ({
      segment: one.segment === '' ? null : one.segment,
      ...presentSegment(sumCounters([one.counters])),
      ...presentCounted(one.counters, one.people),
    })),
    timeseries: sumByBucket(period, series).map(({ bucket, counters }) => ({
      date: bucket.date,
      ...present(counters),
    })),
  };
}

/** A session spans many items and tags, so it belongs to none of them. */
export const noSessions = {
  sessions: null,
  averageSessionLength: null,
  averageVideosPerSession: null,
  averageWatchTimePerSession: null,
};
