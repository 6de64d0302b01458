import type { HttpApp } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers, Envelope } from '../../../platform/http/schemas.ts';
import { reportEngagement } from './engagement-report.ts';
import { readPeriod } from './period.ts';
import { reportQuality } from './quality-report.ts';
import { reportRoute, type ReportParts } from './report-parts.ts';
import { reportRetention } from './retention-report.ts';
import { Engagement, EngagementQuery, PeriodQuery, Quality, Retention } from './schemas.ts';

const { config, tags } = reportRoute;

/** How viewers stay, come back, and what playback is like for them. */
export function addEngagementRoutes(app: HttpApp, parts: ReportParts): void {
  addEngagementRoute(app, parts);
  addQualityRoute(app, parts);
  addRetentionRoute(app, parts);
}

function addEngagementRoute(app: HttpApp, { db }: ReportParts): void {
  app.get(
    '/v1/analytics/engagement',
    {
      config,
      schema: {
        operationId: 'getEngagementAnalytics',
        summary: 'Get the metrics of sessions',
        description: 'In total, over time, and by device, country or tag.',
        tags,
        querystring: EngagementQuery,
        response: answers({ 200: Envelope(Engagement) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const period = readPeriod(request.query, Date.now());
      const { segment = 'device' } = request.query;
      return { data: await reportEngagement(db, organizationId, period, segment) };
    },
  );
}

function addQualityRoute(app: HttpApp, { db }: ReportParts): void {
  app.get(
    '/v1/analytics/quality',
    {
      config,
      schema: {
        operationId: 'getQualityAnalytics',
        summary: 'Get the metrics of playback quality',
        description: 'Start-up times, stalls and errors, also by rendition and codec.',
        tags,
        querystring: PeriodQuery,
        response: answers({ 200: Envelope(Quality) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const period = readPeriod(request.query, Date.now());
      return { data: await reportQuality(db, organizationId, period) };
    },
  );
}

function addRetentionRoute(app: HttpApp, { db }: ReportParts): void {
  app.get(
    '/v1/analytics/retention',
    {
      config,
      schema: {
        operationId: 'getRetentionAnalytics',
        summary: 'Get the retention of viewers',
        description:
          'Cohorts are the viewers of a first day or, by week, of the days of a first week. ' +
          'Either way retention is counted in days, and `hour` gives days.',
        tags,
        querystring: PeriodQuery,
        response: answers({ 200: Envelope(Retention) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const now = Date.now();
      const period = readPeriod(request.query, now);
      return { data: await reportRetention(db, organizationId, period, now) };
    },
  );
}
