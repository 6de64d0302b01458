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
import { peopleOf, segmentPeople, segmentsOf } from './filtered-segments.ts';
import { addFiltered, FilteredSeries } from './filtered-series.ts';
import type { GroupedPeople } from './grouped-people.ts';
import {
  nobody,
  presentCounted,
  presentSessions,
  sumCounters,
  type AudienceCounters,
  type Counters,
  type People,
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
      ...presentCounted(one.counters, one.people),
    })),
    timeseries: sumByBucket(period, series).map(({ bucket, counters }) => ({
      date: bucket.date,
      ...present(counters),
    })),
  };
}

type Counted = Segment<Counters & Partial<AudienceCounters>>;
type Parts = { series: Series<AudienceCounters>; segments: (Counted & { people: People })[] };

async function readAll(
  db: Db,
  organizationId: OrganizationId,
  { period, segment }: Query,
): Promise<Parts> {
  const span = daySpanOf(period);
  // Rollups don't know whose the views of a segment are.
  const viewers = segmentPeople(segment, { counts: ['views'] });
  const [series, segments] = await Promise.all([
    readSeries(db, organizationId, spanOf(period)),
    segment === 'tag'
      ? readTagSegments(db, organizationId, { span, limit: maxTags })
      : readAudienceSegments(db, organizationId, segment, span),
    addFiltered(db, organizationId, { within: period, filter: {} }, viewers.parts),
  ]);
  return { series, segments: await withPeople(db, organizationId, { segment, segments }, viewers) };
}

async function readFiltered(
  db: Db,
  organizationId: OrganizationId,
  { period, filter, segment }: Query & { filter: ReportFilter },
): Promise<Parts> {
  const series = new FilteredSeries(period, {});
  const found = segmentPeople(segment);
  const sums = [series.sums, ...found.parts];
  await addFiltered(db, organizationId, { within: period, filter }, sums);
  const segments = await segmentsOf(db, organizationId, segment, found.sums);
  return {
    series: series.series(period),
    segments: await withPeople(db, organizationId, { segment, segments }, found),
  };
}

async function withPeople(
  db: Db,
  organizationId: OrganizationId,
  { segment, segments }: { segment: SegmentKind; segments: readonly Counted[] },
  found: GroupedPeople,
): Promise<Parts['segments']> {
  const people = await peopleOf(db, organizationId, segment, found);
  return segments.map((one) => ({ ...one, people: people.get(one.segment) ?? nobody }));
}

/** A session is about many items and tags, so it belongs to none of them. */
export const noSessions = {
  sessions: null,
  averageSessionLength: null,
  averageVideosPerSession: null,
  averageWatchTimePerSession: null,
};
