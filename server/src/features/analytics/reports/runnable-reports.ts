/** Reports by name, for saved reports, which run without a request. */
import type { Static, TObject } from 'typebox';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { flatten, readAsOf, toCsv, type CsvRows, type FlatTable } from './answer.ts';
import { withBreakdown } from './breakdown-answer.ts';
import { readContentTop } from './content-reader.ts';
import {
  ContentStatisticsQuery,
  DaysQuery,
  EngagementQuery,
  FilteredQuery,
  MoversQuery,
} from './query-schemas.ts';
import {
  readAudience,
  readEngagement,
  readHours,
  readMovers,
  readOverview,
  readQualityReport,
  readRetentionReport,
  readSources,
  readViewers,
  type ReadReport,
} from './report-readers.ts';
import type { ReportParts } from './report-parts.ts';

type Made = CsvRows<TObject> & { readonly data: object };
type Runnable = {
  readonly query: TObject;
  readonly read: ReadReport<never, Made>;
};

function runnable<Query extends TObject>(
  query: Query,
  read: ReadReport<Static<Query>, Made>,
): Runnable {
  return { query, read };
}

const runnableReports = {
  overview: runnable(FilteredQuery, async (...asked) =>
    withBreakdown(await readOverview(...asked)),
  ),
  audience: runnable(DaysQuery, readAudience),
  content: runnable(ContentStatisticsQuery, async (...asked) =>
    withBreakdown(await readContentTop(...asked)),
  ),
  engagement: runnable(EngagementQuery, async (...asked) =>
    withBreakdown(await readEngagement(...asked)),
  ),
  quality: runnable(FilteredQuery, async (...asked) =>
    withBreakdown(await readQualityReport(...asked)),
  ),
  retention: runnable(FilteredQuery, readRetentionReport),
  movers: runnable(MoversQuery, readMovers),
  sources: runnable(FilteredQuery, async (...asked) => withBreakdown(await readSources(...asked))),
  viewers: runnable(DaysQuery, readViewers),
  hours: runnable(DaysQuery, readHours),
} as const satisfies Record<string, Runnable>;

export type RunnableReport = keyof typeof runnableReports;
export const runnableReportNames = Object.keys(runnableReports) as RunnableReport[];

/** Chosen at run time, so not part of a saved report. */
const chosenAtRun = new Set(['startDate', 'endDate', 'cursor']);

/** Reports with breakdowns; the others reject them. */
const broken = new Set<RunnableReport>(['overview', 'content', 'engagement', 'quality', 'sources']);
const ofBreakdowns = new Set(['breakdown', 'top', 'experiment']);

/** The parameters that a saved report may have, besides its days. */
export function parametersOf(report: RunnableReport): string[] {
  return Object.keys(runnableReports[report].query.properties).filter(
    (name) => !chosenAtRun.has(name) && (broken.has(report) || !ofBreakdowns.has(name)),
  );
}

export const savedParameters = Object.fromEntries(
  Object.values(runnableReports).flatMap(({ query }) =>
    Object.entries(query.properties).filter(([name]) => !chosenAtRun.has(name)),
  ),
);

export type ReportRun = {
  readonly data: object;
  readonly table: FlatTable;
  readonly csv: string;
  readonly asOf: string;
};

/**
 * Reads a report for some days.
 *
 * @param query as described by `savedParameters`, plus its days
 * @throws ApiError VALIDATION_ERROR
 */
export type RunReport = (
  organizationId: OrganizationId,
  report: RunnableReport,
  query: object,
) => Promise<ReportRun>;

export async function runReport(
  parts: ReportParts,
  organizationId: OrganizationId,
  report: RunnableReport,
  query: object,
): Promise<ReportRun> {
  // A scheduled report runs once everything has been counted, so it must not read a lagging
  // replica.
  const asked = { ...parts, db: await parts.heavyReads.upToDate() };
  const asOf = await readAsOf(asked);
  const { read } = runnableReports[report];
  // Saved parameters were validated against the query schema.
  const { data, row, rows } = await read(asked, organizationId, query as never);
  const table = { row, rows };
  return { data, table: flatten(table), csv: toCsv(table), asOf };
}
