/** Reports by name, for what asks for them without a request: saved reports. */
import type { Static, TObject } from 'typebox';
import type { OrganizationId } from '../../../platform/ids.ts';
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
  readRetention,
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
  retention: runnable(FilteredQuery, readRetention),
  movers: runnable(MoversQuery, readMovers),
  sources: runnable(FilteredQuery, async (...asked) => withBreakdown(await readSources(...asked))),
  viewers: runnable(DaysQuery, readViewers),
  hours: runnable(DaysQuery, readHours),
} as const satisfies Record<string, Runnable>;

export type RunnableReport = keyof typeof runnableReports;
export const runnableReportNames = Object.keys(runnableReports) as RunnableReport[];

/** Chosen by whoever runs a report, and so no part of what is saved. */
const chosenAtRun = new Set(['startDate', 'endDate', 'cursor']);

/** Reports that take break-downs; the others refuse them. */
const broken = new Set<RunnableReport>(['overview', 'content', 'engagement', 'quality', 'sources']);
const ofBreakdowns = new Set(['breakdown', 'top', 'experiment']);

/** The parameters that a saved report may have, beside its days. */
export function parametersOf(report: RunnableReport): string[] {
  return Object.keys(runnableReports[report].query.properties).filter(
    (name) => !chosenAtRun.has(name) && (broken.has(report) || !ofBreakdowns.has(name)),
  );
}

/** Every parameter that any of them has, with its schema. */
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
 * Reads a report of some days.
 *
 * @param query as `savedParameters` describe it, with its days
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
  // It is due once everything was counted, so it must see that.
  const asked = { ...parts, db: await parts.heavyReads.upToDate() };
  const asOf = await readAsOf(asked);
  const { read } = runnableReports[report];
  // What was saved was checked by the schema of the query.
  const { data, row, rows } = await read(asked, organizationId, query as never);
  const table = { row, rows };
  return { data, table: flatten(table), csv: toCsv(table), asOf };
}
