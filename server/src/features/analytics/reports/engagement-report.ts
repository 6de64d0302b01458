import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { readAudienceSegments, readSeries, readTagSegments, type Span } from './counter-queries.ts';
import { isAboutItems, type ReportFilter } from './filter.ts';
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
  {
    period,
    filter,
    segment,
  }: { period: Period; filter: ReportFilter | null; segment: SegmentKind },
) {
  const [series, segments] = await Promise.all([
    readSeries(db, organizationId, spanOf(period), filter),
    readSegments(db, organizationId, { span: daySpanOf(period), filter, kind: segment }),
  ]);
  const present = presenterOf(filter);
  return {
    summary: present(sumCounters(series)),
    segments,
    timeseries: sumByBucket(period, series).map(({ bucket, counters }) => ({
      date: bucket.date,
      ...present(counters),
    })),
  };
}

async function readSegments(
  db: Db,
  organizationId: OrganizationId,
  { span, filter, kind }: { span: Span; filter: ReportFilter | null; kind: SegmentKind },
) {
  if (kind === 'tag') {
    const tags = await readTagSegments(db, organizationId, { span, filter, limit: mostTags });
    return tags.map(({ segment, counters }) => ({
      segment,
      ...noSessions,
      ...presentCounted(counters),
    }));
  }
  const present = presenterOf(filter);
  const parts = await readAudienceSegments(db, organizationId, kind, { span, filter });
  return parts.map(({ segment, counters }) => ({
    segment: segment === '' ? null : segment,
    ...present(counters),
    ...presentCounted(counters),
  }));
}

function presenterOf(filter: ReportFilter | null) {
  return filter !== null && isAboutItems(filter) ? () => noSessions : presentSessions;
}

/** A session is about many items and tags, so it belongs to none of them. */
const noSessions = {
  sessions: null,
  averageSessionLength: null,
  averageVideosPerSession: null,
  averageWatchTimePerSession: null,
};
