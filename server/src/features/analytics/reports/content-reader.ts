/** Reads the list of items by metric: pages for the route, the first rows for a saved report. */
import type { Static } from 'typebox';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { contentBreakdown, readReportBreakdown } from './breakdown-kinds.ts';
import { listStatistics } from './content-list.ts';
import { readFilter, type ReportFilter } from './filter.ts';
import type { Within } from './filtered-series.ts';
import { formatDay, readLocalNow, readPeriod } from './period.ts';
import type { ContentStatisticsQuery } from './query-schemas.ts';
import type { ReportParts } from './report-parts.ts';
import { ContentStatisticsRow, type ContentStatistics } from './schemas.ts';

type ContentQuery = Static<typeof ContentStatisticsQuery>;
const defaultLimit = 20;

export async function readContentQuery(
  { db }: ReportParts,
  organizationId: OrganizationId,
  query: ContentQuery,
) {
  const { sort = 'plays', order = 'desc', tags } = query;
  const period = readPeriod(query, await readLocalNow(db, organizationId));
  const filter = readFilter(query);
  return {
    period,
    filter,
    /** The query that a cursor is bound to. */
    words: {
      ...filter,
      // Uses the resolved days, so a cursor of the default range expires with its day.
      days: `${formatDay(period.startMs)}/${formatDay(period.endMs)}`,
      tags: tags ?? null,
      sort,
      order,
    },
    source: listStatistics(db, organizationId, { period, filter, tags: split(tags), sort, order }),
  };
}

function split(list: string | undefined): string[] | null {
  if (list === undefined) return null;
  return list
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}

export function rowsOf(page: readonly Static<typeof ContentStatistics>[]) {
  return {
    row: ContentStatisticsRow,
    rows: page.map(({ metrics, previous, ...item }) => ({ ...item, ...metrics, previous })),
  };
}

export function readContentBreakdown(
  parts: ReportParts,
  organizationId: OrganizationId,
  query: ContentQuery,
  { period, filter }: { readonly period: Within; readonly filter: ReportFilter | null },
) {
  const asked = { within: period, filter, ...contentBreakdown };
  return readReportBreakdown(parts, organizationId, query, asked);
}

/** The first rows of the list. */
export async function readContentTop(
  parts: ReportParts,
  organizationId: OrganizationId,
  query: ContentQuery,
) {
  const asked = await readContentQuery(parts, organizationId, query);
  const { source } = asked;
  const rows = await source.read(query.limit ?? defaultLimit, null);
  const items = rows.map((row) => source.present(row));
  return {
    data: { items },
    ...rowsOf(items),
    breakdown: await readContentBreakdown(parts, organizationId, query, asked),
  };
}
