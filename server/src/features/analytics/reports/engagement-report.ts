import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import {
  readAudienceSegments,
  readSeries,
  readTagSegments,
  type Segment,
} from './counter-queries.ts';
import { isAboutItems, type ReportFilter } from './filter.ts';
import { readFilteredSegments } from './filtered-segments.ts';
import { readFilteredSeries } from './filtered-series.ts';
import {
  presentCounted,
  presentSessions,
  sumCounters,
  type AudienceCounters,
  type Counters,
} from './metrics.ts';
import type { Period } from './period.ts';
import type { SegmentKind } from './query-schemas.ts';
import { daySpanOf, spanOf, sumByBucket } from './series.ts';

/** There are fewer devices and countries; of the tags, these are the most played ones. */
const maxTags = 100;

type Query = { period: Period; filter: ReportFilter | null; segment: SegmentKind };

/** How long viewers stay, and how that differs between parts of the audience. */
export async function reportEngagement(db: Db, organizationId: OrganizationId, query: Query) {
  const { period, filter, segment } = query;
  const [series, segments] = await Promise.all([
    filter === null
      ? readSeries(db, organizationId, spanOf(period))
      : readFilteredSeries(db, organizationId, period, filter).then((of) => of.series(period)),
    readSegments(db, organizationId, query),
  ]);
  const isOfItems = filter !== null && isAboutItems(filter);
  const present = isOfItems ? () => noSessions : presentSessions;
  const presentSegment = isOfItems || segment === 'tag' ? () => noSessions : presentSessions;
  return {
    summary: present(sumCounters(series)),
    segments: segments.slice(0, segment === 'tag' ? maxTags : undefined).map((one) => ({
      segment: one.segment === '' ? null : one.segment,
      ...presentSegment(sumCounters([one.counters])),
      ...presentCounted(one.counters),
    })),
    timeseries: sumByBucket(period, series).map(({ bucket, counters }) => ({
      date: bucket.date,
      ...present(counters),
    })),
  };
}

async function readSegments(
  db: Db,
  organizationId: OrganizationId,
  { period, filter, segment }: Query,
): Promise<Segment<Counters & Partial<AudienceCounters>>[]> {
  if (filter !== null) {
    return readFilteredSegments(db, organizationId, segment, { within: period, filter });
  }
  const span = daySpanOf(period);
  return segment === 'tag'
    ? readTagSegments(db, organizationId, { span, limit: maxTags })
    : readAudienceSegments(db, organizationId, segment, span);
}

/** A session is about many items and tags, so it belongs to none of them. */
const noSessions = {
  sessions: null,
  averageSessionLength: null,
  averageVideosPerSession: null,
  averageWatchTimePerSession: null,
};
