import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import type { ReportFilter } from '../../analytics/analytics.ts';
import { organizationTimeZone } from '../../organizations/organizations.ts';
import type { Compression, Dataset, ExportFormat } from '../tables.ts';

export type ScheduleRow = {
  schedule_id: string;
  organization_id: OrganizationId;
  dataset: Dataset;
  format: ExportFormat;
  compression: Compression;
  filter: ReportFilter;
  delay_hours: number;
  next_day: string;
  created_at: Date;
};

const columns = sql`schedule_id, organization_id, dataset, format, compression, filter, delay_hours,
  next_day::text as next_day, created_at`;

/** Serializes creations within an organization, so that concurrent ones cannot exceed the limit. */
export async function lockSchedules(tx: Tx, organizationId: OrganizationId): Promise<number> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended(${`schedules ${organizationId}`}, 77))`.execute(
    tx,
  );
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from export_schedule
    where organization_id = ${organizationId}`.execute(tx);
  return rows[0]?.count ?? 0;
}

export async function insertSchedule(
  tx: Tx,
  row: Omit<ScheduleRow, 'created_at'>,
): Promise<ScheduleRow> {
  const { rows } = await sql<ScheduleRow>`
    insert into export_schedule (schedule_id, organization_id, dataset, format, compression, filter,
      delay_hours, next_day)
    values (${row.schedule_id}, ${row.organization_id}, ${row.dataset}, ${row.format},
      ${row.compression}, ${JSON.stringify(row.filter)}::jsonb, ${row.delay_hours},
      ${row.next_day}::date)
    returning ${columns}`.execute(tx);
  const [inserted] = rows;
  if (inserted === undefined) throw new Error('The schedule was not written.');
  return inserted;
}

/** Oldest first. */
export async function listSchedules(
  db: Db,
  organizationId: OrganizationId,
): Promise<ScheduleRow[]> {
  const { rows } = await sql<ScheduleRow>`
    select ${columns} from export_schedule where organization_id = ${organizationId}
    order by created_at, schedule_id`.execute(db);
  return rows;
}

/** @returns whether the schedule existed */
export async function deleteScheduleRow(
  tx: Tx,
  organizationId: OrganizationId,
  scheduleId: string,
): Promise<boolean> {
  const { rows } = await sql`
    delete from export_schedule
    where organization_id = ${organizationId} and schedule_id = ${scheduleId}
    returning schedule_id`.execute(tx);
  return rows.length > 0;
}

/** Locks one schedule whose next day ended long enough ago, or returns null. */
export async function lockDueSchedule(
  tx: Tx,
  exceptOrganizations: readonly string[],
): Promise<ScheduleRow | null> {
  const zone = organizationTimeZone(sql`export_schedule.organization_id`);
  const { rows } = await sql<ScheduleRow>`
    select ${columns} from export_schedule
    where now() >= ((next_day + 1)::timestamp + delay_hours * interval '1 hour') at time zone ${zone}
      and organization_id <> all(${exceptOrganizations}::text[])
    order by next_day limit 1 for update skip locked`.execute(tx);
  return rows[0] ?? null;
}

export async function moveSchedule(tx: Tx, scheduleId: string): Promise<void> {
  await sql`
    update export_schedule set next_day = next_day + 1
    where schedule_id = ${scheduleId}`.execute(tx);
}
