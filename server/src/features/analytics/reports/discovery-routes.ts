import type { HttpApp } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers } from '../../../platform/http/schemas.ts';
import { answerReport } from './answer.ts';
import { readFilter } from './filter.ts';
import { reportMovers } from './movers-report.ts';
import { comparablePeriods, readLocalNow, readPeriod } from './period.ts';
import { reportRoute, type ReportParts } from './report-parts.ts';
import { asCsv, Report } from './metric-schemas.ts';
import { MoversQuery, FilteredQuery } from './query-schemas.ts';
import { Movers, Sources } from './schemas.ts';
import { reportSources } from './sources-report.ts';

const { config, tags } = reportRoute;

/** What is on the rise, and where viewers come from. */
export function addDiscoveryRoutes(app: HttpApp, parts: ReportParts): void {
  addMoversRoute(app, parts);
  addSourcesRoute(app, parts);
}

function addMoversRoute(app: HttpApp, parts: ReportParts): void {
  app.get(
    '/v1/analytics/movers',
    {
      config,
      schema: {
        operationId: 'getMovers',
        summary: 'Get the items that have moved most',
        description:
          'Against as many days right before the range, the greatest difference first. A last day ' +
          `that is not over yet is left out, with its counterpart. ${asCsv} the items.`,
        tags,
        querystring: MoversQuery,
        response: answers({ 200: Report(Movers) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { metric = 'plays', direction = 'both', limit = 10 } = request.query;
      const now = await readLocalNow(parts.db, organizationId);
      const period = readPeriod(request.query, now);
      const data = await reportMovers(parts.db, organizationId, {
        periods: comparablePeriods(period, now.nowMs),
        filter: readFilter(request.query),
        metric,
        direction,
        limit,
      });
      return answerReport(request, reply, parts, {
        data,
        row: Movers.items,
        rows: data,
      });
    },
  );
}

function addSourcesRoute(app: HttpApp, parts: ReportParts): void {
  app.get(
    '/v1/analytics/sources',
    {
      config,
      schema: {
        operationId: 'getTrafficSources',
        summary: 'Get where viewers come from',
        description: `Impressions by the \`entryPoint\` that they name. ${asCsv} the sources.`,
        tags,
        querystring: FilteredQuery,
        response: answers({ 200: Report(Sources) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const period = readPeriod(request.query, await readLocalNow(parts.db, organizationId));
      const filter = readFilter(request.query);
      const data = await reportSources(parts.db, organizationId, { period, filter });
      return answerReport(request, reply, parts, {
        data,
        row: Sources.properties.sources.items,
        rows: data.sources,
      });
    },
  );
}
