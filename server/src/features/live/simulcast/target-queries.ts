import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import { isOurs, type StreamClaim } from '../ingest/publisher-queries.ts';
import type { LiveStreamKey } from '../queries.ts';
import type { TargetStatus } from '../tables.ts';

export type NewTarget = {
  readonly targetId: string;
  readonly name: string;
  readonly url: string;
  readonly sealedKey: Buffer;
  readonly keyEnd: string;
};

export async function insertTarget(tx: Tx, key: LiveStreamKey, target: NewTarget): Promise<void> {
  await tx
    .insertInto('live_simulcast_target')
    .values({
      organization_id: key.organizationId,
      live_stream_id: key.liveStreamId,
      target_id: target.targetId,
      name: target.name,
      url: target.url,
      sealed_key: target.sealedKey,
      key_end: target.keyEnd,
      message: null,
      changed_at: null,
    })
    .execute();
}

export async function countTargets(db: Db, key: LiveStreamKey): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from live_simulcast_target
    where organization_id = ${key.organizationId} and live_stream_id = ${key.liveStreamId}`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/** @returns false if there is no such target */
export async function deleteTarget(tx: Tx, key: LiveStreamKey, targetId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('live_simulcast_target')
    .where('organization_id', '=', key.organizationId)
    .where('live_stream_id', '=', key.liveStreamId)
    .where('target_id', '=', targetId)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

export type StoredTarget = { targetId: string; url: string; sealedKey: Buffer };

export async function readTargets(
  db: Db,
  { organizationId, liveStreamId }: LiveStreamKey,
): Promise<StoredTarget[]> {
  const { rows } = await sql<StoredTarget>`
    select target_id as "targetId", url, sealed_key as "sealedKey" from live_simulcast_target
    where organization_id = ${organizationId} and live_stream_id = ${liveStreamId}
    order by created_at, target_id`.execute(db);
  return rows;
}

/** Records a target's status. Does nothing if the claim is lost or the target no longer exists. */
export async function updateTargetStatus(
  db: Db,
  claim: StreamClaim,
  targetId: string,
  { status, message }: { status: TargetStatus; message: string | null },
): Promise<void> {
  await sql`
    update live_simulcast_target set status = ${status}, message = ${message},
      changed_at = clock_timestamp()
    where organization_id = ${claim.organizationId} and live_stream_id = ${claim.liveStreamId}
      and target_id = ${targetId}
      and exists (select from live_stream where ${isOurs(claim)})`.execute(db);
}
