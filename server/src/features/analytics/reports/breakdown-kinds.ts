import type { OrganizationId } from '../../../platform/values/ids.ts';
import type { CountName } from '../facts/facts.ts';
import {
  readBreakdown,
  reportBreakdown,
  type BreakdownQuery,
  type BreakdownReport,
  type BreakdownPart,
} from './breakdown.ts';
import { presentItemMetrics } from './content-report.ts';
import type { ReportFilter } from './filter.ts';
import type { Within } from './filtered-series.ts';
import { presentCounted, presentPlayback, presentSessions } from './metrics.ts';
import { presentStartup } from './quality-report.ts';
import type { ReportParts } from './report-parts.ts';
import { noSessions } from './engagement-report.ts';
import { presentSource } from './sources-report.ts';

export type BreakdownKind<Metrics> = {
  readonly rankedBy: CountName;
  readonly present: (part: BreakdownPart) => Metrics;
};

export const overviewBreakdown = {
  rankedBy: 'plays',
  present: ({ counts, people, hasSessions }: BreakdownPart) => ({
    ...presentCounted(counts, people),
    sessions: hasSessions ? counts.sessions : null,
  }),
} as const;

export const contentBreakdown = {
  rankedBy: 'plays',
  present: ({ counts, people }: BreakdownPart) => presentItemMetrics(counts, people),
} as const;

export const engagementBreakdown = {
  rankedBy: 'plays',
  present: ({ counts, people, hasSessions }: BreakdownPart) => ({
    ...(hasSessions ? presentSessions(counts) : noSessions),
    ...presentCounted(counts, people),
  }),
} as const;

export const qualityBreakdown = {
  rankedBy: 'attempted_views',
  present: ({ counts, startups }: BreakdownPart) => ({
    views: counts.views,
    attemptedViews: counts.attempted_views,
    erroredViews: counts.errored_views,
    startupTime: presentStartup([...startups].map(([bucket, tally]) => ({ bucket, ...tally }))),
    ...presentPlayback(counts),
  }),
} as const;

export const sourcesBreakdown = {
  rankedBy: 'plays',
  present: ({ counts, people, hasSessions }: BreakdownPart) => ({
    impressions: counts.impressions,
    ...presentSource(counts, { viewers: people.uniqueViewers, hasSessions }),
  }),
} as const;

type Asked = { readonly within: Within; readonly filter: ReportFilter | null };

export async function readReportBreakdown<Metrics>(
  { db, variantsOf }: ReportParts,
  organizationId: OrganizationId,
  query: BreakdownQuery,
  { present, rankedBy, ...asked }: Asked & BreakdownKind<Metrics>,
): Promise<BreakdownReport<Metrics> | null> {
  const breakdown = readBreakdown(query);
  if (breakdown === null) return null;
  const wanted = { ...asked, breakdown, rankedBy, present, variantsOf };
  return reportBreakdown(db, organizationId, wanted);
}
