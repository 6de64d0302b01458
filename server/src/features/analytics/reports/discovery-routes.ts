import type { HttpApp } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers } from '../../../platform/http/schemas.ts';
import { answerReport } from './answer.ts';
import { answerBroken } from './breakdown-answer.ts';
import { reportRoute, type ReportParts } from './report-parts.ts';
import { readMovers, readSources } from './report-readers.ts';
import { asCsv, Report } from './metric-schemas.ts';
import { MoversQuery, FilteredQuery } from './query-schemas.ts';
import { Movers, Sources } from './schemas.ts';

const { config, tags } = reportRoute;

/** Reports on trending items and on traffic sources. */
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
        summary: 'Get the items that changed most',
        description:
          'Compares with the preceding period of equal length, greatest difference first. If the last day ' +
          `is not over yet, it and its counterpart are left out. ${asCsv} the items.`,
        tags,
        querystring: MoversQuery,
        response: answers({ 200: Report(Movers) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return answerReport(request, reply, parts, async (asked) =>
        readMovers(asked, organizationId, request.query),
      );
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
        summary: 'Get traffic sources',
        description: `Groups impressions and the resulting plays by \`entryPoint\`. ${asCsv} the sources.`,
        tags,
        querystring: FilteredQuery,
        response: answers({ 200: Report(Sources) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return answerBroken(request, reply, parts, async (asked) =>
        readSources(asked, organizationId, request.query),
      );
    },
  );
}
