import type { HttpApp } from '../../../platform/http/app.ts';
import { readPage } from '../../../platform/http/list-cursor.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers, IdParams } from '../../../platform/http/schemas.ts';
import { answerReport } from './answer.ts';
import { listStatistics } from './content-list.ts';
import { reportItem } from './content-report.ts';
import { readFilter } from './filter.ts';
import { formatDay, readLocalNow, readPeriod } from './period.ts';
import { reportRoute, type ReportParts } from './report-parts.ts';
import { asCsv, Report, ReportList } from './metric-schemas.ts';
import { ContentStatisticsQuery, ItemStatisticsQuery } from './query-schemas.ts';
import { ContentStatistics, ContentStatisticsRow, ItemStatistics } from './schemas.ts';

const { config, tags } = reportRoute;

export function addContentRoutes(app: HttpApp, parts: ReportParts): void {
  addListRoute(app, parts);
  addItemRoute(app, parts);
}

function addListRoute(app: HttpApp, parts: ReportParts): void {
  const { db, cursors } = parts;
  app.get(
    '/v1/analytics/content',
    {
      config,
      schema: {
        operationId: 'listContentAnalytics',
        summary: 'List the metrics of content items',
        description:
          'Items that had any event in the range, archived ones included; deleted ones are not in ' +
          `it. Items without the rate that is sorted by come last. ${asCsv} the page.`,
        tags,
        querystring: ContentStatisticsQuery,
        response: answers({ 200: ReportList(ContentStatistics) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { limit, cursor, sort = 'plays', order = 'desc', tags: wanted } = request.query;
      const period = readPeriod(request.query, await readLocalNow(parts.db, organizationId));
      const filter = readFilter(request.query);
      const words = {
        ...filter,
        // The days, not the words of the query: a cursor of the default range ends with its day.
        days: `${formatDay(period.startMs)}/${formatDay(period.endMs)}`,
        tags: wanted ?? null,
        sort,
        order,
      };
      const page = {
        ...(limit !== undefined && { limit }),
        ...(cursor !== undefined && { cursor }),
      };
      const { data, meta } = await readPage(
        cursors,
        { list: 'content analytics', organizationId, filter: words },
        page,
        listStatistics(db, organizationId, { period, filter, tags: split(wanted), sort, order }),
      );
      const answered = await answerReport(request, reply, parts, {
        data,
        row: ContentStatisticsRow,
        rows: data.map(({ metrics, ...item }) => ({ ...item, ...metrics })),
      });
      return { data, meta: { ...meta, ...answered.meta } };
    },
  );
}

function split(list: string | undefined): string[] | null {
  if (list === undefined) return null;
  return list
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}

function addItemRoute(app: HttpApp, parts: ReportParts): void {
  app.get(
    '/v1/analytics/content/:id',
    {
      config,
      schema: {
        operationId: 'getContentAnalytics',
        summary: 'Get the metrics of one content item',
        description: `With its series, its audience, and how far viewers watch. ${asCsv} the timeseries.`,
        tags,
        params: IdParams,
        querystring: ItemStatisticsQuery,
        response: answers({ 200: Report(ItemStatistics) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const period = readPeriod(request.query, await readLocalNow(parts.db, organizationId));
      const filter = readFilter(request.query);
      const data = await reportItem(parts.db, organizationId, request.params.id, {
        period,
        filter,
      });
      return answerReport(request, reply, parts, {
        data,
        row: ItemStatistics.properties.timeseries.items,
        rows: data.timeseries,
      });
    },
  );
}
