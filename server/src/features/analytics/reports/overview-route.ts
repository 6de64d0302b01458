import type { HttpApp } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers } from '../../../platform/http/schemas.ts';
import { answerReport } from './answer.ts';
import { answerBroken } from './breakdown-answer.ts';
import { reportRoute, type ReportParts } from './report-parts.ts';
import { readAudience, readOverview } from './report-readers.ts';
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
          'Returns the viewers of the last day and of the 7 and 30 days ending with it, and for each day ' +
          `the new and returning viewers. ${asCsv} the timeseries.`,
        tags,
        querystring: DaysQuery,
        response: answers({ 200: Report(Audience) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return answerReport(request, reply, parts, async (asked) =>
        readAudience(asked, organizationId, request.query),
      );
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
        description: `Returns totals, a time series, and a comparison with the preceding period. ${asCsv} the timeseries.`,
        tags,
        querystring: FilteredQuery,
        response: answers({ 200: Report(Overview) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return answerBroken(request, reply, parts, async (asked) =>
        readOverview(asked, organizationId, request.query),
      );
    },
  );
}
