/** Reads each report for a query: its data, its CSV rows and its breakdown. */
import type { Static, TObject } from 'typebox';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { reportAudience } from './audience-report.ts';
import {
  engagementBreakdown,
  overviewBreakdown,
  qualityBreakdown,
  readReportBreakdown,
  sourcesBreakdown,
} from './breakdown-kinds.ts';
import { refuseBreakdown } from './breakdown.ts';
import { countsOf } from './counts.ts';
import { reportEngagement } from './engagement-report.ts';
import { readFilter } from './filter.ts';
import { reportHours } from './hours-report.ts';
import { reportMovers } from './movers-report.ts';
import { reportOverview } from './overview-report.ts';
import { comparablePeriods, readLocalNow, readPeriod } from './period.ts';
import { reportQuality } from './quality-report.ts';
import { Quality } from './quality-schemas.ts';
import type { DaysQuery, EngagementQuery, FilteredQuery, MoversQuery } from './query-schemas.ts';
import type { ReportParts } from './report-parts.ts';
import { reportRetention } from './retention-report.ts';
import {
  Audience,
  Engagement,
  Hours,
  Movers,
  Overview,
  Retention,
  Sources,
  Viewers,
} from './schemas.ts';
import { reportSources } from './sources-report.ts';
import { reportViewers } from './viewers-report.ts';

/** @throws ApiError VALIDATION_ERROR with paths into the query */
export type ReadReport<Query, Answer> = (
  parts: ReportParts,
  organizationId: OrganizationId,
  query: Query,
) => Promise<Answer>;

type Days = Static<typeof DaysQuery>;
type Filtered = Static<typeof FilteredQuery>;

/** The local time, period, filter and counts that nearly every report starts with. */
async function readAsked(
  { db }: ReportParts,
  organizationId: OrganizationId,
  query: Filtered | Days,
) {
  const now = await readLocalNow(db, organizationId);
  const filter = readFilter(query);
  const counts = countsOf(db, organizationId, filter);
  return { now, period: readPeriod(query, now), filter, counts, nowMs: now.nowMs };
}

/** A result whose CSV has these rows. */
function table<Data, Row extends TObject>(
  data: Data,
  row: Row,
  rows: readonly Static<Row>[],
): { data: Data; row: Row; rows: readonly Static<Row>[] } {
  return { data, row, rows };
}

export const readOverview = async (
  parts: ReportParts,
  organizationId: OrganizationId,
  query: Filtered,
) => {
  const { period, filter, counts, nowMs } = await readAsked(parts, organizationId, query);
  const data = await reportOverview(counts, { period, nowMs });
  const asked = { within: period, filter, ...overviewBreakdown };
  return {
    ...table(data, Overview.properties.timeseries.items, data.timeseries),
    breakdown: await readReportBreakdown(parts, organizationId, query, asked),
  };
};

export const readAudience = async (
  parts: ReportParts,
  organizationId: OrganizationId,
  query: Days,
) => {
  const { period, counts, nowMs } = await readAsked(parts, organizationId, query);
  refuseBreakdown(query, 'use a filter, or break down the overview');
  const data = await reportAudience(counts, { period, nowMs });
  return table(data, Audience.properties.timeseries.items, data.timeseries);
};

export const readEngagement = async (
  parts: ReportParts,
  organizationId: OrganizationId,
  query: Static<typeof EngagementQuery>,
) => {
  const { period, filter, counts } = await readAsked(parts, organizationId, query);
  const { segment = 'device' } = query;
  const data = await reportEngagement(counts, { period, segment });
  const asked = { within: period, filter, ...engagementBreakdown };
  return {
    ...table(data, Engagement.properties.segments.items, data.segments),
    breakdown: await readReportBreakdown(parts, organizationId, query, asked),
  };
};

export const readQualityReport = async (
  parts: ReportParts,
  organizationId: OrganizationId,
  query: Filtered,
) => {
  const { period, filter, nowMs } = await readAsked(parts, organizationId, query);
  const data = await reportQuality(parts.db, organizationId, { period, filter, nowMs });
  const asked = { within: period, filter, ...qualityBreakdown };
  return {
    ...table(data, Quality.properties.timeseries.items, data.timeseries),
    breakdown: await readReportBreakdown(parts, organizationId, query, asked),
  };
};

export const readRetentionReport = async (
  parts: ReportParts,
  organizationId: OrganizationId,
  query: Filtered,
) => {
  const { period, counts, nowMs } = await readAsked(parts, organizationId, query);
  refuseBreakdown(query, 'filter by one value at a time');
  const data = await reportRetention(counts, { period, nowMs });
  return table(data, Retention.properties.cohorts.items, data.cohorts);
};

export const readMovers = async (
  parts: ReportParts,
  organizationId: OrganizationId,
  query: Static<typeof MoversQuery>,
) => {
  const { metric = 'plays', direction = 'both', limit = 10 } = query;
  refuseBreakdown(query, 'it already lists items; use a filter');
  const { now, period, counts } = await readAsked(parts, organizationId, query);
  const periods = comparablePeriods(period, now.nowMs);
  const data = await reportMovers(counts, { periods, metric, direction, limit });
  return table(data, Movers.items, data);
};

export const readSources = async (
  parts: ReportParts,
  organizationId: OrganizationId,
  query: Filtered,
) => {
  const { period, filter } = await readAsked(parts, organizationId, query);
  const data = await reportSources(parts.db, organizationId, { period, filter });
  const asked = { within: period, filter, ...sourcesBreakdown };
  return {
    ...table(data, Sources.properties.sources.items, data.sources),
    breakdown: await readReportBreakdown(parts, organizationId, query, asked),
  };
};

export const readViewers = async (
  parts: ReportParts,
  organizationId: OrganizationId,
  query: Days,
) => {
  const { period, filter } = await readAsked(parts, organizationId, query);
  const data = await reportViewers(parts.db, organizationId, { period, filter });
  return table(data, Viewers.properties.frequency.items, data.frequency);
};

export const readHours = async (
  parts: ReportParts,
  organizationId: OrganizationId,
  query: Days,
) => {
  const { period, counts, nowMs } = await readAsked(parts, organizationId, query);
  const data = await reportHours(counts, { period, nowMs });
  return table(data, Hours.items, data);
};
