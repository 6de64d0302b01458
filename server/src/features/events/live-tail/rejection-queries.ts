import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';

/** Rejected events of one process as JSON, and how many more of the organization were skipped. */
export type NewRejection = { organizationId: string; rejection: string; skipped: number };

export async function insertRejections(db: Db, rejections: readonly NewRejection[]): Promise<void> {
  await sql`
    insert into event_rejection (organization_id, rejection, skipped)
    select * from unnest(${rejections.map((one) => one.organizationId)}::text[],
      ${rejections.map((one) => one.rejection)}::text[],
      ${rejections.map((one) => one.skipped)}::integer[])`.execute(db);
}

export type RejectionRow = { organizationId: string; rejection: string; skipped: number };

export async function selectRejections(
  db: Db,
  sinceSnapshot: string,
  limit: number,
): Promise<{ rows: RejectionRow[]; snapshot: string }> {
  const { rows } = await sql<{
    snapshot: string;
    organization_id: string | null;
    rejection: string;
    skipped: number;
  }>`
    select moment.snapshot, organization_id, rejection, skipped
    from (select pg_current_snapshot()::text as snapshot) moment
    left join lateral (
      select rejection_id, organization_id, rejection, skipped from event_rejection
      where rejected_at > now() - interval '1 minute'
        and not pg_visible_in_snapshot(written_by, ${sinceSnapshot}::pg_snapshot)
      order by rejection_id desc limit ${limit}
    ) rejected on true
    order by rejection_id`.execute(db);
  return {
    snapshot: rows[0]?.snapshot ?? sinceSnapshot,
    rows: rows.flatMap(({ organization_id: organizationId, rejection, skipped }) =>
      organizationId === null ? [] : [{ organizationId, rejection, skipped }],
    ),
  };
}

export async function deleteOldRejections(tx: Tx, olderThanMinutes: number): Promise<void> {
  await sql`
    delete from event_rejection
    where rejected_at < now() - make_interval(mins => ${olderThanMinutes}::int)`.execute(tx);
}

export async function deleteRejectionsOf(
  tx: Tx,
  organizationId: string,
  userId: string,
): Promise<void> {
  await sql`
    delete from event_rejection
    where organization_id = ${organizationId}
      and position(${JSON.stringify(userId)}::text in rejection) > 0`.execute(tx);
}
