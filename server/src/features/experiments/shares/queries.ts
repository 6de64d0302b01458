import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { TypeId } from '../../../platform/values/ids.ts';
import type { ExperimentRow } from '../experiment.ts';

export type ShareId = TypeId<'shr'>;
export type ShareRow = {
  readonly shareId: ShareId;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

const columns = sql`share_id as "shareId", created_at as "createdAt", expires_at as "expiresAt"`;

/** Active links, newest first. */
export async function selectShares(db: Db, experimentNumber: number): Promise<ShareRow[]> {
  const { rows } = await sql<ShareRow>`
    select ${columns} from experiment_share
    where experiment_number = ${experimentNumber} and expires_at > clock_timestamp()
    order by created_at desc, share_id desc`.execute(db);
  return rows;
}

export async function insertShare(
  tx: Tx,
  row: Pick<ExperimentRow, 'organization_id' | 'number'>,
  shareId: ShareId,
  days: number,
): Promise<ShareRow> {
  const { rows } = await sql<ShareRow>`
    insert into experiment_share (share_id, organization_id, experiment_number, expires_at)
    values (${shareId}, ${row.organization_id}, ${row.number},
      clock_timestamp() + make_interval(days => ${days}::int))
    returning ${columns}`.execute(tx);
  const [share] = rows;
  if (share === undefined) throw new Error('The link was not stored.');
  return share;
}

export async function deleteShare(
  tx: Tx,
  experimentNumber: number,
  shareId: string,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    delete from experiment_share
    where experiment_number = ${experimentNumber} and share_id = ${shareId}`.execute(tx);
  return numAffectedRows > 0n;
}

export async function deleteExpiredShares(db: Db): Promise<void> {
  await sql`delete from experiment_share where expires_at < clock_timestamp()`.execute(db);
}

/** The experiment of an active link. */
export async function findShared(
  db: Db,
  shareId: string,
): Promise<{ organizationId: string; experimentId: string } | null> {
  const { rows } = await sql<{ organizationId: string; experimentId: string }>`
    select experiment.organization_id as "organizationId", experiment_id as "experimentId"
    from experiment_share share join experiment on experiment.number = share.experiment_number
    where share_id = ${shareId} and expires_at > clock_timestamp()
      and experiment.deleted_at is null`.execute(db);
  return rows[0] ?? null;
}
