import type { HttpApp } from '../../../platform/http/app.ts';
import { readPage } from '../../../platform/http/list-cursor.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers, IdParams } from '../../../platform/http/schemas.ts';
import { answerBroken } from './breakdown-answer.ts';
import { contentBreakdown, readReportBreakdown } from './breakdown-kinds.ts';
import { readContentBreakdown, readContentQuery, rowsOf } from './content-reader.ts';
import { reportItem } from './content-report.ts';
import { readFilter } from './filter.ts';
import { readLocalNow, readPeriod } from './period.ts';
import { reportRoute, type ReportParts } from './report-parts.ts';
import { asCsv, Report, ReportList } from './metric-schemas.ts';
import { ContentStatisticsQuery, ItemStatisticsQuery } from './query-schemas.ts';
import { ContentBreakdown, ContentStatistics, ItemStatistics } from './schemas.ts';

const { config, tags } = reportRoute;

export function addContentReportRoutes(app: HttpApp, parts: ReportParts): void {
  addListRoute(app, parts);
  addItemRoute(app, parts);
}

function addListRoute(app: HttpApp, parts: ReportParts): void {
  const { cursors } = parts;
  app.get(
    '/v1/analytics/content',
    {
      config,
      schema: {
        operationId: 'listContentAnalytics',
        summary: 'List the metrics of content items',
        description:
          'Returns items with at least one event in the range, including archived items but not deleted ' +
          `ones. Items without a value for the sorted rate come last. ${asCsv} the page.`,
        tags,
        querystring: ContentStatisticsQuery,
        response: answers({ 200: ReportList(ContentStatistics, { breakdown: ContentBreakdown }) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { limit, cursor } = request.query;
      const page = {
        ...(limit !== undefined && { limit }),
        ...(cursor !== undefined && { cursor }),
      };
      const { data, meta } = await answerBroken(request, reply, parts, async (reading) => {
        const asked = await readContentQuery(reading, organizationId, request.query);
        const scope = { list: 'content analytics', organizationId, filter: asked.words };
        const list = await readPage(cursors, scope, page, asked.source);
        return {
          data: { list },
          ...rowsOf(list.data),
          breakdown: await readContentBreakdown(reading, organizationId, request.query, asked),
        };
      });
      const { list, ...breakdown } = data;
      return { data: list.data, meta: { ...list.meta, ...meta, ...breakdown } };
    },
  );
}

function addItemRoute(app: HttpApp, parts: ReportParts): void {
  app.get(
    '/v1/analytics/content/:id',
    {
      config,
      schema: {
        operationId: 'getContentAnalytics',
        summary: 'Get the metrics of one content item',
        description: `Returns totals, time series, audience, and how far viewers watch. ${asCsv} the timeseries.`,
        tags,
        params: IdParams,
        querystring: ItemStatisticsQuery,
        response: answers({ 200: Report(ItemStatistics) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const filter = readFilter(request.query);
      return answerBroken(request, reply, parts, async (asked) => {
        const { db } = asked;
        const period = readPeriod(request.query, await readLocalNow(db, organizationId));
        const data = await reportItem(db, organizationId, request.params.id, { period, filter });
        const breakdown = await readReportBreakdown(asked, organizationId, request.query, {
          within: period,
          filter: { ...filter, contentId: data.contentId },
          ...contentBreakdown,
        });
        return {
          data,
          row: ItemStatistics.properties.timeseries.items,
          rows: data.timeseries,
          breakdown,
        };
      });
    },
  );
}
