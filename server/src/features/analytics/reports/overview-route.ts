import type { HttpApp } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers } from '../../../platform/http/schemas.ts';
import { reportAudience } from './audience-report.ts';
import { answerReport } from './answer.ts';
import { reportOverview } from './overview-report.ts';
import { readFilter } from './filter.ts';
import { readLocalNow, readPeriod } from './period.ts';
import { reportRoute, type ReportParts } from './report-parts.ts';
import { asCsv, Report } from './metric-schemas.ts';
import { DaysQuery, FilteredQuery } from './query-schemas.ts';
import { Audience, Overview } from './schemas.ts';

const { config, tags } = reportRoute;

export function addOverviewRoutes(app: HttpApp, parts: ReportParts): void {
  addOverviewRoute(app, parts);
  addAudienceRoute(app, parts);
}

function addAudienceRoute(app: HttpApp, parts: ReportParts): void {
  app.get(
    '/v1/analytics/audience',
    {
      config,
      schema: {
        operationId: 'getAudienceAnalytics',
        summary: 'Get active, new and returning viewers',
        description:
          'Viewers of the last day, of the 7 and of the 30 days that end with it, and for each day ' +
          `who came for the first time and who came back. ${asCsv} the timeseries.`,
        tags,
        querystring: DaysQuery,
        response: answers({ 200: Report(Audience) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const now = await readLocalNow(parts.db, organizationId);
      const period = readPeriod(request.query, now);
      const filter = readFilter(request.query);
      const data = await reportAudience(parts.db, organizationId, {
        period,
        filter,
        nowMs: now.nowMs,
      });
      return answerReport(request, reply, parts, {
        data,
        row: Audience.properties.timeseries.items,
        rows: data.timeseries,
      });
    },
  );
}

function addOverviewRoute(app: HttpApp, parts: ReportParts): void {
  app.get(
    '/v1/analytics/overview',
    {
      config,
      schema: {
        operationId: 'getAnalyticsOverview',
        summary: 'Get the metrics of the organization',
        description: `In total, over time, and against as many days before. ${asCsv} the timeseries.`,
        tags,
        querystring: FilteredQuery,
        response: answers({ 200: Report(Overview) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const now = await readLocalNow(parts.db, organizationId);
      const period = readPeriod(request.query, now);
      const filter = readFilter(request.query);
      const data = await reportOverview(parts.db, organizationId, {
        period,
        filter,
        nowMs: now.nowMs,
      });
      return answerReport(request, reply, parts, {
        data,
        row: Overview.properties.timeseries.items,
        rows: data.timeseries,
      });
    },
  );
}
