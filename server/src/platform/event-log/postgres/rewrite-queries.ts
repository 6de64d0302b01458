import { sql } from 'kysely';
import type { Tx } from '../../database/database.ts';
import type { StreamPlace } from '../block-stream.ts';

export type BlockName = {
  readonly organizationId: string;
  readonly writtenBy: string;
  readonly sequence: number;
};

/** Arbitrary numbers that differ from those of other locks. */
const rewriteLock = 1_402_778_190;
const joinLock = 1_402_778_191;

/**
 * Waits until no other session is rewriting the organization's blocks or joining blocks, and holds
 * the lock until the transaction ends. A page is read and written back under this lock; otherwise
 * one writer could restore what another removed.
 */
export async function lockForRewriting(tx: Tx, organizationId: string): Promise<void> {
  await sql`
    select pg_advisory_xact_lock_shared(${joinLock}::bigint),
      pg_advisory_xact_lock(${rewriteLock}::int, hashtext(${organizationId}))`.execute(tx);
}

/**
 * Waits until no other session is rewriting or joining blocks, and holds the lock until the
 * transaction ends.
 *
 * @throws a contention error if that takes more than two seconds
 */
export async function lockForJoining(tx: Tx): Promise<void> {
  await sql`select set_config('lock_timeout', '2s', true)`.execute(tx);
  await sql`select pg_advisory_xact_lock(${joinLock}::bigint)`.execute(tx);
}

/**
 * Replaces the events of a block. `written_by` stays the same, so that no reader gets the block
 * again.
 *
 * @param memberCounts the remaining events of each member; null for a block that was not joined
 */
export async function replaceBlock(
  tx: Tx,
  block: BlockName,
  contents: {
    bytes: Buffer;
    place: StreamPlace | null;
    eventCount: number;
    memberCounts: readonly number[] | null;
  },
): Promise<void> {
  await sql`
    update event_block set events = ${contents.bytes}, event_count = ${contents.eventCount},
      stream_sequence = ${contents.place?.sequence ?? null}::bigint,
      stream_message = ${contents.place?.messageId ?? null}::uuid,
      stream_bytes = ${contents.place?.sizeBytes ?? null}::integer,
      joined_counts = ${contents.memberCounts}::integer[], duplicates = '{}',
      revision = revision + 1
    where written_by = ${block.writtenBy}::xid8 and sequence = ${block.sequence}
      and organization_id = ${block.organizationId}`.execute(tx);
}

export async function removeBlock(tx: Tx, block: BlockName): Promise<void> {
  await sql`
    delete from event_block
    where written_by = ${block.writtenBy}::xid8 and sequence = ${block.sequence}
      and organization_id = ${block.organizationId}`.execute(tx);
}
