import type { HttpApp } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers, IdParams } from '../../../platform/http/schemas.ts';
import { answerReport } from './answer.ts';
import { reportBenchmark } from './benchmark-report.ts';
import { readHours, readViewers } from './report-readers.ts';
import { asCsv, Report } from './metric-schemas.ts';
import { readLocalNow } from './period.ts';
import { DaysQuery } from './query-schemas.ts';
import { reportRoute, type ReportParts } from './report-parts.ts';
import { Benchmark, BenchmarkRow, Hours, Viewers } from './schemas.ts';

const { config, tags } = reportRoute;

/** Reports on viewers, viewing times and item benchmarks. */
export function addHabitRoutes(app: HttpApp, parts: ReportParts): void {
  addViewersRoute(app, parts);
  addHoursRoute(app, parts);
  addBenchmarkRoute(app, parts);
}

function addViewersRoute(app: HttpApp, parts: ReportParts): void {
  app.get(
    '/v1/analytics/viewers',
    {
      config,
      schema: {
        operationId: 'getViewerAnalytics',
        summary: 'Get audience size, frequency and reactions',
        description: `Returns the distinct viewers in the range and the number of days on which they were active. ${asCsv} the frequencies.`,
        tags,
        querystring: DaysQuery,
        response: answers({ 200: Report(Viewers) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return answerReport(request, reply, parts, async (asked) =>
        readViewers(asked, organizationId, request.query),
      );
    },
  );
}

function addHoursRoute(app: HttpApp, parts: ReportParts): void {
  app.get(
    '/v1/analytics/hours',
    {
      config,
      schema: {
        operationId: 'getHourAnalytics',
        summary: 'Get viewing by hour of the week',
        description:
          "Returns viewing by weekday and hour in the organization's time zone. The range may reach back as far as " +
          `hourly data is kept. ${asCsv} the hours.`,
        tags,
        querystring: DaysQuery,
        response: answers({ 200: Report(Hours) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return answerReport(request, reply, parts, async (asked) =>
        readHours(asked, organizationId, request.query),
      );
    },
  );
}

function addBenchmarkRoute(app: HttpApp, parts: ReportParts): void {
  app.get(
    '/v1/analytics/content/:id/benchmark',
    {
      config,
      schema: {
        operationId: 'getContentBenchmark',
        summary: 'Compare an item with similar ones at the same age',
        description:
          'Compares the first days of the item with those of similar items: quartiles (null below five items), and its rank ' +
          `among the last ten items of the organization and of the author. ${asCsv} the metrics.`,
        tags,
        params: IdParams,
        response: answers({ 200: Report(Benchmark) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return answerReport(request, reply, parts, async ({ db }) => {
        const now = await readLocalNow(db, organizationId);
        const data = await reportBenchmark(db, organizationId, request.params.id, now);
        return {
          data,
          row: BenchmarkRow,
          rows: data.metrics.map(({ metric, value, typical, rankOfLast, rankOfAuthor }) => ({
            metric,
            value,
            items: typical?.items ?? null,
            p25: typical?.p25 ?? null,
            median: typical?.median ?? null,
            p75: typical?.p75 ?? null,
            rankOfLast: rankOfLast?.rank ?? null,
            rankOfAuthor: rankOfAuthor?.rank ?? null,
          })),
        };
      });
    },
  );
}
