/** SQL for erasing a viewer: the state of the erasure. */
import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { LogPosition } from '../../../platform/event-log/event-log.ts';
import { organizationRows } from '../../organizations/organizations.ts';
import type { ErasureRecord } from './erasure-records.ts';

export type ErasureStatus = 'pending' | 'complete' | 'failed';

export type ErasureRow = {
  status: ErasureStatus;
  requestedAt: Date;
  /** Null before it has started. */
  position: ErasurePosition | null;
  blocksRead: number;
  eventsRemoved: number;
  completedAt: Date | null;
};

/** Progress of an erasure, which covers the log as it was at the start, up to `end`. */
export type ErasurePosition = { readonly at: LogPosition; readonly end: LogPosition };

/** The viewer to erase; the id itself is not stored. */
export type ErasureKey = { organizationId: string; userHash: Buffer };

type Row = {
  status: ErasureStatus;
  requested_at: Date;
  position: ErasurePosition | null;
  blocks_read: number;
  events_removed: number;
  completed_at: Date | null;
};

const columns = sql`status, requested_at, position, blocks_read, events_removed, completed_at`;

/** Requests an erasure. A running one starts over, so that it also covers newer events. */
export async function requestErasure(tx: Tx, key: ErasureKey): Promise<ErasureRow> {
  const { rows } = await sql<Row>`
    insert into erasure (organization_id, user_hash, requested_at)
    values (${key.organizationId}, ${key.userHash}, clock_timestamp())
    on conflict (organization_id, user_hash) do update set
      status = 'pending', requested_at = clock_timestamp(), position = null, blocks_read = 0,
      events_removed = 0, completed_at = null, is_replay = false
    returning ${columns}`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error('The erasure was not written.');
  return toErasure(row);
}

export async function findErasure(db: Db, key: ErasureKey): Promise<ErasureRow | null> {
  const { rows } = await sql<Row>`
    select ${columns} from erasure
    where organization_id = ${key.organizationId} and user_hash = ${key.userHash}`.execute(db);
  return rows[0] === undefined ? null : toErasure(rows[0]);
}

/** Locks the erasure until the transaction ends. Null if it is not pending. */
export async function lockErasure(tx: Tx, key: ErasureKey): Promise<ErasureRow | null> {
  const { rows } = await sql<Row>`
    select ${columns} from erasure
    where organization_id = ${key.organizationId} and user_hash = ${key.userHash}
      and status = 'pending'
    for update`.execute(tx);
  return rows[0] === undefined ? null : toErasure(rows[0]);
}

export type ErasureProgress = {
  position: ErasurePosition;
  blocksRead: number;
  eventsRemoved: number;
};

export async function saveErasureProgress(
  tx: Tx,
  key: ErasureKey,
  progress: ErasureProgress,
): Promise<void> {
  await sql`
    update erasure set position = ${JSON.stringify(progress.position)}::jsonb,
      blocks_read = blocks_read + ${progress.blocksRead},
      events_removed = events_removed + ${progress.eventsRemoved}
    where organization_id = ${key.organizationId} and user_hash = ${key.userHash}`.execute(tx);
}

export async function endErasure(
  tx: Tx,
  key: ErasureKey,
  status: 'complete' | 'failed',
): Promise<void> {
  await sql`
    update erasure set status = ${status}, completed_at = now(), position = null
    where organization_id = ${key.organizationId} and user_hash = ${key.userHash}`.execute(tx);
}

/**
 * Inserts an erasure from a record, unless the database already has it or the organization does not
 * exist.
 *
 * @returns whether it was inserted
 */
export async function insertReplay(
  tx: Tx,
  { organizationId, userHash, requestedAt }: ErasureRecord,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    insert into erasure as known (organization_id, user_hash, requested_at, is_replay)
    select organization_id, ${Buffer.from(userHash, 'hex')}, ${requestedAt}::timestamptz, true
    from ${organizationRows} organization where organization_id = ${organizationId}
    on conflict (organization_id, user_hash) do update set
      status = 'pending', requested_at = excluded.requested_at, position = null, blocks_read = 0,
      events_removed = 0, completed_at = null, is_replay = true
      -- Records only have millisecond precision.
      where known.requested_at < excluded.requested_at - interval '1 second'
  `.execute(tx);
  return numAffectedRows > 0n;
}

/** The hexadecimal hashes of viewers whose ids are still to be found. */
export async function selectReplays(db: Db, organizationId: string): Promise<string[]> {
  const { rows } = await sql<{ hash: string }>`
    select encode(user_hash, 'hex') as hash from erasure
    where organization_id = ${organizationId} and is_replay and status = 'pending'`.execute(db);
  return rows.map(({ hash }) => hash);
}

/** Completes the replays whose viewers no event names. */
export async function completeReplays(tx: Tx, organizationId: string): Promise<void> {
  await sql`
    update erasure set status = 'complete', completed_at = now()
    where organization_id = ${organizationId} and is_replay and status = 'pending'`.execute(tx);
}

function toErasure(row: Row): ErasureRow {
  return {
    status: row.status,
    requestedAt: row.requested_at,
    position: row.position,
    blocksRead: row.blocks_read,
    eventsRemoved: row.events_removed,
    completedAt: row.completed_at,
  };
}
