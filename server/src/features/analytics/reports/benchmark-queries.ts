/** SQL for benchmarks: similar items, and the counts of each item's first days. */
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { contentColumns } from '../projections/engagement/contribution.ts';
import { readDetail, type ContentDetail } from '../projections/engagement/content-detail.ts';
import { contentItems } from '../../content/content.ts';
import type { Counters } from './metrics.ts';

export type MeasuredItem = {
  contentId: string;
  title: string;
  contentType: string;
  author: string | null;
  durationSeconds: number | null;
  createdAt: Date;
};

const itemColumns = sql`content_id as "contentId", title, content_type as "contentType", author,
  duration_seconds as "durationSeconds", created_at as "createdAt"`;

export async function findMeasured(
  db: Db,
  organizationId: OrganizationId,
  contentId: string,
): Promise<MeasuredItem | null> {
  const { rows } = await sql<MeasuredItem>`
    select ${itemColumns} from ${contentItems} item
    where organization_id = ${organizationId} and content_id = ${contentId}`.execute(db);
  return rows[0] ?? null;
}

/** Items of a kind created before a given time, latest first. */
export async function listMeasured(
  db: Db,
  organizationId: OrganizationId,
  wanted: {
    readonly of: RawBuilder<unknown>;
    readonly before: Date;
    readonly limit: number;
  },
): Promise<MeasuredItem[]> {
  const { rows } = await sql<MeasuredItem>`
    select ${itemColumns} from ${contentItems} item
    where organization_id = ${organizationId} and created_at < ${wanted.before} and ${wanted.of}
    order by created_at desc, content_id desc limit ${wanted.limit}`.execute(db);
  return rows;
}

/** The first days of an item, by the organization's clock. */
export type FirstDays = { readonly contentId: string; readonly startMs: number };

/**
 * Items with their days. Each is a separate index lookup, because the item comes after the day in
 * the key.
 */
function daysOf(spans: readonly FirstDays[], days: number) {
  return sql`unnest(${spans.map(({ contentId }) => contentId)}::uuid[],
      ${spans.map(({ startMs }) => new Date(startMs))}::timestamptz[]) as span (id, start)
    cross join generate_series(0, ${days - 1}::int) as age`;
}

export async function sumFirstDays(
  db: Db,
  organizationId: OrganizationId,
  spans: readonly FirstDays[],
  days: number,
): Promise<Map<string, Counters>> {
  const sums = contentColumns.map(
    (name) => sql`coalesce(sum(${sql.ref(name)}), 0)::bigint as ${sql.ref(name)}`,
  );
  const { rows } = await sql<Counters & { id: string }>`
    select span.id, ${sql.join(sums)} from ${daysOf(spans, days)}
    join content_counter counter on counter.organization_id = ${organizationId}
      and counter.grain = 'day' and counter.period = span.start + make_interval(hours => 24 * age)
      and counter.content_id = span.id
    group by span.id`.execute(db);
  return new Map(rows.map(({ id, ...counters }) => [id, counters]));
}

export async function readFirstDetails(
  db: Db,
  organizationId: OrganizationId,
  spans: readonly FirstDays[],
  days: number,
): Promise<{ contentId: string; detail: ContentDetail }[]> {
  const { rows } = await sql<{ id: string; detail: unknown }>`
    select span.id, detail from ${daysOf(spans, days)}
    join content_day counted on counted.organization_id = ${organizationId}
      and counted.day = (span.start at time zone 'UTC')::date + age and counted.content_id = span.id
    `.execute(db);
  return rows.map(({ id, detail }) => ({ contentId: id, detail: readDetail(detail) }));
}
