import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { inSpan, type ReportSpan } from './counter-queries.ts';

export type QualityCount = { measure: string; label: string; count: number; total: number };

/** All counts of a span by measure and label. A day has at most 200 labels per measure. */
export async function readQuality(
  db: Db,
  organizationId: OrganizationId,
  span: ReportSpan,
): Promise<QualityCount[]> {
  const { rows } = await sql<QualityCount>`
    select measure, label, sum(count)::bigint as count, sum(total)::bigint as total
    from quality_counter
    where organization_id = ${organizationId} and ${inSpan(span)}
    group by measure, label
    order by measure, label collate "C"
  `.execute(db);
  return rows;
}

export type LabelCount = { period: Date; label: string; count: number; total: number };

/** The counts of one measure per hour or day, such as the histogram of start-up times. */
export async function readLabelSeries(
  db: Db,
  organizationId: OrganizationId,
  measure: 'startup' | 'source',
  span: ReportSpan,
): Promise<LabelCount[]> {
  const { rows } = await sql<LabelCount>`
    select period, label, count, total from quality_counter
    where organization_id = ${organizationId} and ${inSpan(span)} and measure = ${measure}
  `.execute(db);
  return rows;
}
