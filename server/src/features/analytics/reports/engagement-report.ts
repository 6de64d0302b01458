import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import {
  readAudience,
  readAudienceSegments,
  readTagSegments,
  type Span,
} from './counter-queries.ts';
import { presentCounted, presentSessions, sumCounters } from './metrics.ts';
import type { Period } from './period.ts';
import type { SegmentKind } from './schemas.ts';
import { daySpanOf, spanOf, sumByBucket } from './series.ts';

/** There are fewer devices and countries; of the tags, these are the most played ones. */
const mostTags = 100;

/** How long viewers stay, and how that differs between parts of the audience. */
export async function reportEngagement(
  db: Db,
  organizationId: OrganizationId,
  period: Period,
  segment: SegmentKind,
) {
  const [series, segments] = await Promise.all([
    readAudience(db, organizationId, spanOf(period)),
    readSegments(db, organizationId, daySpanOf(period), segment),
  ]);
  return {
    summary: presentSessions(sumCounters(series)),
    segments,
    timeseries: sumByBucket(period, series).map(({ bucket, counters }) => ({
      date: bucket.date,
      ...presentSessions(counters),
    })),
  };
}

async function readSegments(db: Db, organizationId: OrganizationId, span: Span, kind: SegmentKind) {
  if (kind === 'tag') {
    const tags = await readTagSegments(db, organizationId, span, mostTags);
    return tags.map(({ segment, counters }) => ({
      segment,
      ...noSessions,
      ...presentCounted(counters),
    }));
  }
  const parts = await readAudienceSegments(db, organizationId, kind, span);
  return parts.map(({ segment, counters }) => ({
    segment: segment === '' ? null : segment,
    ...presentSessions(counters),
    ...presentCounted(counters),
  }));
}

/** A session is about many tags, so it belongs to none of them. */
const noSessions = {
  sessions: null,
  averageSessionLength: null,
  averageVideosPerSession: null,
  averageWatchTimePerSession: null,
};
