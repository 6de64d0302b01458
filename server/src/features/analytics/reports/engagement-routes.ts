import type { HttpApp } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers } from '../../../platform/http/schemas.ts';
import { answerReport } from './answer.ts';
import { answerBroken } from './breakdown-answer.ts';
import { reportRoute, type ReportParts } from './report-parts.ts';
import { readEngagement, readQualityReport, readRetentionReport } from './report-readers.ts';
import { asCsv, Report } from './metric-schemas.ts';
import { EngagementQuery, FilteredQuery } from './query-schemas.ts';
import { Quality } from './quality-schemas.ts';
import { Engagement, Retention } from './schemas.ts';

const { config, tags } = reportRoute;

export function addEngagementRoutes(app: HttpApp, parts: ReportParts): void {
  addEngagementRoute(app, parts);
  addQualityRoute(app, parts);
  addRetentionRoute(app, parts);
}

function addEngagementRoute(app: HttpApp, parts: ReportParts): void {
  app.get(
    '/v1/analytics/engagement',
    {
      config,
      schema: {
        operationId: 'getEngagementAnalytics',
        summary: 'Get session metrics',
        description: `Returns totals, a time series, and metrics by device, country or tag. ${asCsv} the segments.`,
        tags,
        querystring: EngagementQuery,
        response: answers({ 200: Report(Engagement) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return answerBroken(request, reply, parts, async (asked) =>
        readEngagement(asked, organizationId, request.query),
      );
    },
  );
}

function addQualityRoute(app: HttpApp, parts: ReportParts): void {
  app.get(
    '/v1/analytics/quality',
    {
      config,
      schema: {
        operationId: 'getQualityAnalytics',
        summary: 'Get playback quality metrics',
        description: `Returns startup times, stalls and errors, in total and by rendition and codec. ${asCsv} the timeseries.`,
        tags,
        querystring: FilteredQuery,
        response: answers({ 200: Report(Quality) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return answerBroken(request, reply, parts, async (asked) =>
        readQualityReport(asked, organizationId, request.query),
      );
    },
  );
}

function addRetentionRoute(app: HttpApp, parts: ReportParts): void {
  app.get(
    '/v1/analytics/retention',
    {
      config,
      schema: {
        operationId: 'getRetentionAnalytics',
        summary: 'Get viewer retention',
        description:
          'A cohort consists of the viewers whose first day is the same or, by week, falls in the same week. ' +
          `Retention is always counted in days, and \`hour\` is treated as \`day\`. ${asCsv} a line for each ` +
          'cohort.',
        tags,
        querystring: FilteredQuery,
        response: answers({ 200: Report(Retention) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return answerReport(request, reply, parts, async (asked) =>
        readRetentionReport(asked, organizationId, request.query),
      );
    },
  );
}
