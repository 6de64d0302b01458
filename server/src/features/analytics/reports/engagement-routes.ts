import type { HttpApp } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers } from '../../../platform/http/schemas.ts';
import { answerReport } from './answer.ts';
import { reportEngagement } from './engagement-report.ts';
import { readFilter } from './filter.ts';
import { readLocalNow, readPeriod } from './period.ts';
import { reportQuality } from './quality-report.ts';
import { reportRoute, type ReportParts } from './report-parts.ts';
import { reportRetention } from './retention-report.ts';
import { asCsv, Report } from './metric-schemas.ts';
import { EngagementQuery, FilteredQuery } from './query-schemas.ts';
import { Engagement, Quality, Retention } from './schemas.ts';

const { config, tags } = reportRoute;

/** How viewers stay, come back, and what playback is like for them. */
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
        summary: 'Get the metrics of sessions',
        description: `In total, over time, and by device, country or tag. ${asCsv} the segments.`,
        tags,
        querystring: EngagementQuery,
        response: answers({ 200: Report(Engagement) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const period = readPeriod(request.query, await readLocalNow(parts.db, organizationId));
      const { segment = 'device' } = request.query;
      const filter = readFilter(request.query);
      const data = await reportEngagement(parts.db, organizationId, { period, filter, segment });
      return answerReport(request, reply, parts, {
        data,
        row: Engagement.properties.segments.items,
        rows: data.segments,
      });
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
        summary: 'Get the metrics of playback quality',
        description: `Start-up times, stalls and errors, also by rendition and codec. ${asCsv} the timeseries.`,
        tags,
        querystring: FilteredQuery,
        response: answers({ 200: Report(Quality) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const period = readPeriod(request.query, await readLocalNow(parts.db, organizationId));
      const filter = readFilter(request.query);
      const data = await reportQuality(parts.db, organizationId, { period, filter });
      return answerReport(request, reply, parts, {
        data,
        row: Quality.properties.timeseries.items,
        rows: data.timeseries,
      });
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
        summary: 'Get the retention of viewers',
        description:
          'Cohorts are the viewers of a first day or, by week, of the days of a first week. ' +
          `Either way retention is counted in days, and \`hour\` gives days. ${asCsv} a line for each ` +
          'cohort.',
        tags,
        querystring: FilteredQuery,
        response: answers({ 200: Report(Retention) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const now = await readLocalNow(parts.db, organizationId);
      const period = readPeriod(request.query, now);
      const filter = readFilter(request.query);
      const data = await reportRetention(parts.db, organizationId, {
        period,
        filter,
        nowMs: now.nowMs,
      });
      return answerReport(request, reply, parts, {
        data,
        row: Retention.properties.cohorts.items,
        rows: data.cohorts,
      });
    },
  );
}
