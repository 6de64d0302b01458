import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import {
  readAudienceSegments,
  readSeries,
  readTagSegments,
  type Segment,
  type Series,
} from './counter-queries.ts';
import { isAboutItems, type ReportFilter } from './filter.ts';
import { segmentsOf, segmentSums } from './filtered-segments.ts';
import { addFiltered, FilteredSeries } from './filtered-series.ts';
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
  const { series, segments } =
    filter === null
      ? await readAll(db, organizationId, query)
      : await readFiltered(db, organizationId, { ...query, filter });
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

type Parts = {
  series: Series<AudienceCounters>;
  segments: Segment<Counters & Partial<AudienceCounters>>[];
};

async function readAll(
  db: Db,
  organizationId: OrganizationId,
  { period, segment }: Query,
): Promise<Parts> {
  const span = daySpanOf(period);
  const [series, segments] = await Promise.all([
    readSeries(db, organizationId, spanOf(period)),
    segment === 'tag'
      ? readTagSegments(db, organizationId, { span, limit: maxTags })
      : readAudienceSegments(db, organizationId, segment, span),
  ]);
  return { series, segments };
}

async function readFiltered(
  db: Db,
  organizationId: OrganizationId,
  { period, filter, segment }: Query & { filter: ReportFilter },
): Promise<Parts> {
  const series = new FilteredSeries(period, {});
  const sums = segmentSums(segment);
  await addFiltered(db, organizationId, { within: period, filter }, [series.sums, sums]);
  return {
    series: series.series(period),
    segments: await segmentsOf(db, organizationId, segment, sums),
  };
}

/** A session is about many items and tags, so it belongs to none of them. */
const noSessions = {
  sessions: null,
  averageSessionLength: null,
  averageVideosPerSession: null,
  averageWatchTimePerSession: null,
};
