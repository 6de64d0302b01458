import { dayMs } from '../../../platform/values/time.ts';
import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { contentItems } from '../../content/content.ts';
import { contentColumns } from '../projections/engagement/contribution.ts';
import { presentItemMetrics } from './content-report.ts';
import type { ReportFilter } from './filter.ts';
import { countedItems, findNames } from './filtered-segments.ts';
import { addFiltered } from './filtered-series.ts';
import { GroupedPeople } from './grouped-people.ts';
import { noViewers, type Counters } from './metrics.ts';
import { formatDay } from './period.ts';
import { countPeopleOfItems } from './unique-viewers.ts';

/** A page of the items with counts on a day, in id order. */
export async function readDailyMetrics(
  db: Db,
  organizationId: OrganizationId,
  page: { dayMs: number; after: string | null; limit: number },
) {
  const day = new Date(page.dayMs);
  const { rows } = await sql<Counters & { content_id: string; title: string }>`
    select counter.content_id, item.title, ${sql.join(contentColumns.map((name) => sql.ref(name)))}
    from content_counter counter
    join ${contentItems} item on item.organization_id = counter.organization_id
      and item.content_id = counter.content_id
    where counter.organization_id = ${organizationId} and counter.grain = 'day'
      and counter.period = ${day}
      and counter.content_id > ${page.after ?? '00000000-0000-0000-0000-000000000000'}::uuid
    order by counter.content_id limit ${page.limit}
  `.execute(db);
  const people = await countPeopleOfItems(
    db,
    organizationId,
    rows.map((row) => row.content_id),
    { startMs: page.dayMs, endMs: page.dayMs + dayMs, granularity: 'day' },
  );
  return rows.map(({ content_id: contentId, title, ...counters }) => ({
    date: formatDay(page.dayMs),
    contentId,
    title,
    metrics: presentItemMetrics(counters, people.get(contentId) ?? noViewers),
  }));
}

/** Like `readDailyMetrics`, with a filter: all items of a day at once, in id order. */
export async function readFilteredDailyMetrics(
  db: Db,
  organizationId: OrganizationId,
  { dayMs: startMs, filter }: { dayMs: number; filter: ReportFilter },
) {
  const within = { startMs, endMs: startMs + dayMs };
  const found = new GroupedPeople('content');
  await addFiltered(db, organizationId, { within, filter }, found.parts);
  const { sums } = found;
  const people = found.byGroup();
  const items = await findNames(db, organizationId, countedItems(sums));
  return items
    .toSorted((a, b) => (a.contentId < b.contentId ? -1 : 1))
    .map(({ contentId, title }) => ({
      date: formatDay(startMs),
      contentId,
      title,
      metrics: presentItemMetrics(sums.countsOf(contentId), people.get(contentId) ?? noViewers),
    }));
}
