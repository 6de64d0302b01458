import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { OrganizationId, TypeId } from '../../platform/values/ids.ts';
import type { RunnableReport } from '../analytics/analytics.ts';
import type { ReportDays, ReportRange, Schedule } from './schedule.ts';

export type ReportId = TypeId<'rpt'>;
export type RunId = TypeId<'rrn'>;

export type ReportRow = {
  readonly reportId: ReportId;
  readonly organizationId: OrganizationId;
  readonly name: string;
  readonly report: RunnableReport;
  readonly query: Readonly<Record<string, unknown>>;
  readonly range: ReportRange;
  readonly schedule: Schedule | null;
  readonly recipients: readonly string[];
  readonly postsWebhook: boolean;
  readonly isEnabled: boolean;
  readonly nextAt: Date | null;
  readonly createdAt: Date;
};

const columns = sql`report_id as "reportId", organization_id as "organizationId", name, report,
  query, range, schedule, recipients, posts_webhook as "postsWebhook", is_enabled as "isEnabled",
  next_at as "nextAt", created_at as "createdAt"`;

/** Serializes creations within an organization, so that concurrent ones cannot exceed the limit. */
export async function lockReports(tx: Tx, organizationId: string): Promise<number> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended(${`reports ${organizationId}`}, 77))`.execute(tx);
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from saved_report
    where organization_id = ${organizationId}`.execute(tx);
  return rows[0]?.count ?? 0;
}

export async function insertReport(tx: Tx, row: Omit<ReportRow, 'createdAt'>): Promise<ReportRow> {
  const schedule = row.schedule === null ? null : JSON.stringify(row.schedule);
  const { rows } = await sql<ReportRow>`
    insert into saved_report (report_id, organization_id, name, report, query, range, schedule,
      recipients, posts_webhook, is_enabled, next_at)
    values (${row.reportId}, ${row.organizationId}, ${row.name}, ${row.report},
      ${JSON.stringify(row.query)}::jsonb, ${row.range}, ${schedule}::jsonb,
      ${row.recipients}::text[], ${row.postsWebhook}, ${row.isEnabled}, ${row.nextAt})
    returning ${columns}`.execute(tx);
  const [inserted] = rows;
  if (inserted === undefined) throw new Error('The report was not written.');
  return inserted;
}

export async function updateReport(tx: Tx, row: ReportRow): Promise<void> {
  const schedule = row.schedule === null ? null : JSON.stringify(row.schedule);
  await sql`
    update saved_report set name = ${row.name}, report = ${row.report},
      query = ${JSON.stringify(row.query)}::jsonb, range = ${row.range},
      schedule = ${schedule}::jsonb, recipients = ${row.recipients}::text[],
      posts_webhook = ${row.postsWebhook}, is_enabled = ${row.isEnabled}, next_at = ${row.nextAt}
    where report_id = ${row.reportId}`.execute(tx);
}

export async function deleteReportRow(tx: Tx, reportId: string): Promise<void> {
  await sql`delete from saved_report where report_id = ${reportId}`.execute(tx);
}

/** Oldest first. */
export async function listReports(db: Db, organizationId: string): Promise<ReportRow[]> {
  const { rows } = await sql<ReportRow>`
    select ${columns} from saved_report where organization_id = ${organizationId}
    order by created_at, report_id`.execute(db);
  return rows;
}

export async function findReport(
  db: Db,
  organizationId: string,
  reportId: string,
): Promise<ReportRow | null> {
  const { rows } = await sql<ReportRow>`
    select ${columns} from saved_report
    where organization_id = ${organizationId} and report_id = ${reportId}`.execute(db);
  return rows[0] ?? null;
}

export async function lockReport(
  tx: Tx,
  organizationId: string,
  reportId: string,
): Promise<ReportRow | null> {
  const { rows } = await sql<ReportRow>`
    select ${columns} from saved_report
    where organization_id = ${organizationId} and report_id = ${reportId} for update`.execute(tx);
  return rows[0] ?? null;
}

/** Locks one report that is due at a given time, or returns null. */
export async function lockDueReport(tx: Tx, at: Date): Promise<ReportRow | null> {
  const { rows } = await sql<ReportRow>`
    select ${columns} from saved_report where is_enabled and next_at <= least(${at}, now())
    order by next_at, report_id limit 1 for update skip locked`.execute(tx);
  return rows[0] ?? null;
}

export async function moveReport(tx: Tx, reportId: string, nextAt: Date): Promise<void> {
  await sql`
    update saved_report set next_at = ${nextAt} where report_id = ${reportId}`.execute(tx);
}

export type RunRow = ReportDays & {
  readonly runId: RunId;
  readonly reportId: ReportId;
  readonly dueAt: Date | null;
  readonly status: 'pending' | 'ready' | 'failed';
  readonly asOf: Date | null;
  readonly error: string | null;
  readonly createdAt: Date;
  readonly madeAt: Date | null;
  readonly mailedAt: Date | null;
};
export type MadeRun = RunRow & { readonly data: object | null; readonly csv: string | null };

const runColumns = sql`run.run_id as "runId", run.report_id as "reportId", run.due_at as "dueAt",
  run.status, run.start_day::text as "startDate", run.end_day::text as "endDate",
  run.as_of as "asOf", run.error_message as error, run.created_at as "createdAt",
  run.made_at as "madeAt", run.mailed_at as "mailedAt"`;

/** @returns null if that due time already has a run */
export async function insertRun(
  tx: Tx,
  {
    runId,
    reportId,
    dueAt,
    startDate,
    endDate,
  }: Pick<RunRow, 'runId' | 'reportId' | 'dueAt' | 'startDate' | 'endDate'>,
): Promise<RunRow | null> {
  const { rows } = await sql<RunRow>`
    insert into report_run as run (run_id, report_id, due_at, start_day, end_day)
    values (${runId}, ${reportId}, ${dueAt}, ${startDate}::date, ${endDate}::date)
    on conflict (report_id, due_at) do nothing returning ${runColumns}`.execute(tx);
  return rows[0] ?? null;
}

export async function findRun(db: Db, reportId: string, runId: string): Promise<MadeRun | null> {
  const { rows } = await sql<MadeRun>`
    select ${runColumns}, run.data, run.csv from report_run run
    where report_id = ${reportId} and run_id = ${runId}`.execute(db);
  return rows[0] ?? null;
}

/** Newest first, after a position. */
export async function listReportRuns(
  db: Db,
  reportId: string,
  { limit, after }: { limit: number; after: { at: string; id: string } | null },
): Promise<RunRow[]> {
  const behind =
    after === null
      ? sql``
      : sql`and (created_at, run_id) < (${after.at}::timestamptz, ${after.id}::text)`;
  const { rows } = await sql<RunRow>`
    select ${runColumns} from report_run run where report_id = ${reportId} ${behind}
    order by created_at desc, run_id desc limit ${limit}`.execute(db);
  return rows;
}

export async function countRuns(db: Db, reportId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from report_run where report_id = ${reportId}`.execute(db);
  return rows[0]?.count ?? 0;
}

export type Made = { readonly data: object; readonly csv: string; readonly asOf: Date };

/** @returns whether the run was pending */
export async function finishRun(tx: Tx, runId: string, made: Made): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update report_run set status = 'ready', data = ${JSON.stringify(made.data)}::jsonb,
      csv = ${made.csv}, as_of = ${made.asOf}, made_at = clock_timestamp()
    where run_id = ${runId} and status = 'pending'`.execute(tx);
  return numAffectedRows > 0n;
}

export async function failRun(tx: Tx, runId: string, message: string): Promise<void> {
  await sql`
    update report_run set status = 'failed', error_message = ${message}
    where run_id = ${runId} and status = 'pending'`.execute(tx);
}

export async function noteMailed(tx: Tx, runId: string): Promise<void> {
  await sql`
    update report_run set mailed_at = clock_timestamp() where run_id = ${runId}`.execute(tx);
}

export async function deleteOldRuns(db: Db, keptDays: number): Promise<void> {
  await sql`
    delete from report_run
    where created_at < clock_timestamp() - make_interval(days => ${keptDays}::int)`.execute(db);
}
