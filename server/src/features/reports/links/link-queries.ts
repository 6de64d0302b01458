import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { OrganizationId, TypeId } from '../../../platform/values/ids.ts';

export type LinkId = TypeId<'rln'>;
export type ReportLinkRow = {
  readonly linkId: LinkId;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

const columns = sql`link_id as "linkId", created_at as "createdAt", expires_at as "expiresAt"`;

/** Active links, newest first. */
export async function selectLinks(db: Db, reportId: string): Promise<ReportLinkRow[]> {
  const { rows } = await sql<ReportLinkRow>`
    select ${columns} from report_link
    where report_id = ${reportId} and expires_at > clock_timestamp()
    order by created_at desc, link_id desc`.execute(db);
  return rows;
}

export async function insertReportLink(
  tx: Tx,
  reportId: string,
  linkId: LinkId,
  days: number,
): Promise<ReportLinkRow> {
  const { rows } = await sql<ReportLinkRow>`
    insert into report_link (link_id, report_id, expires_at)
    values (${linkId}, ${reportId}, clock_timestamp() + make_interval(days => ${days}::int))
    returning ${columns}`.execute(tx);
  const [link] = rows;
  if (link === undefined) throw new Error('The link was not stored.');
  return link;
}

export async function deleteReportLink(tx: Tx, reportId: string, linkId: string): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    delete from report_link where report_id = ${reportId} and link_id = ${linkId}`.execute(tx);
  return numAffectedRows > 0n;
}

export async function deleteExpiredReportLinks(db: Db): Promise<void> {
  await sql`delete from report_link where expires_at < clock_timestamp()`.execute(db);
}

/** The report of an active link. */
export async function findLinked(
  db: Db,
  linkId: string,
): Promise<{ organizationId: OrganizationId; reportId: string } | null> {
  const { rows } = await sql<{ organizationId: OrganizationId; reportId: string }>`
    select report.organization_id as "organizationId", report.report_id as "reportId"
    from report_link link join saved_report report on report.report_id = link.report_id
    where link.link_id = ${linkId} and link.expires_at > clock_timestamp()`.execute(db);
  return rows[0] ?? null;
}
