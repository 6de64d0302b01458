/** The response of the result routes: the results, with segments and days if requested. */
import type { Db } from '../../platform/database/database.ts';
import { openMeasure, readBreakdownSegments, type SegmentName } from './breakdown.ts';
import type { ExperimentRow } from './experiment.ts';
import { readDatabaseClock } from './queries.ts';
import { withHarms, type Results } from './present-results.ts';
import { readResults } from './results.ts';
import { readTimeline, type Timeline } from './timeline.ts';

export type ReportQuery = {
  readonly segment?: SegmentName;
  readonly granularity?: 'day';
  readonly metric?: string;
};

/**
 * Frozen results include the timeline of each metric, which can't be computed later. Results frozen
 * by earlier versions have no guardrails.
 */
type Frozen = { readonly timelines?: readonly Timeline[] } & Partial<Pick<Results, 'guardrails'>>;

/** @throws ApiError VALIDATION_ERROR if the metric does not exist, CONFLICT for parts of a draft */
export async function readReport(db: Db, row: ExperimentRow, query: ReportQuery) {
  const now = await readDatabaseClock(db);
  const found = await readResults(db, row, now);
  const {
    timelines = [],
    guardrails = [],
    ...rest
  } = withHarms(found, row) as Omit<Results, 'guardrails'> & Frozen;
  const results = { ...rest, guardrails };
  const { segment, granularity, metric } = query;
  if (segment === undefined && granularity === undefined) return results;
  const measure = await openMeasure(db, row, now, metric);
  const frozen = timelines.find((timeline) => timeline.metric === measure.name);
  return {
    ...results,
    ...(segment !== undefined && { segments: await readBreakdownSegments(db, measure, segment) }),
    ...(granularity !== undefined && { timeline: frozen ?? (await readTimeline(db, measure)) }),
  };
}
