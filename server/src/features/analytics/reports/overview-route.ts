import type { HttpApp } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers, Envelope } from '../../../platform/http/schemas.ts';
import { reportOverview } from './overview-report.ts';
import { readPeriod } from './period.ts';
import { reportRoute, type ReportParts } from './report-parts.ts';
import { Overview, PeriodQuery } from './schemas.ts';

const { config, tags } = reportRoute;

export function addOverviewRoute(app: HttpApp, { db }: ReportParts): void {
  app.get(
    '/v1/analytics/overview',
    {
      config,
      schema: {
        operationId: 'getAnalyticsOverview',
        summary: 'Get the metrics of the organization',
        description: 'In total, over time, and against as many days before.',
        tags,
        querystring: PeriodQuery,
        response: answers({ 200: Envelope(Overview) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const period = readPeriod(request.query, Date.now());
      return { data: await reportOverview(db, organizationId, period) };
    },
  );
}
