/** The SQL of rewriting blocks of the log. */
import { sql } from 'kysely';
import type { Tx } from '../../database/database.ts';

export type BlockName = {
  readonly organizationId: string;
  readonly writtenBy: string;
  readonly sequence: number;
};

/** Any other number would do; it must differ from those of other locks. */
const rewriteLock = 1_402_778_190;

/**
 * Waits until nobody else rewrites the organization's blocks, until the transaction ends. A page is
 * read and written back under this lock, or one rewrite could restore what another one removed.
 */
export async function lockForRewriting(tx: Tx, organizationId: string): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(${rewriteLock}::int, hashtext(${organizationId}))`.execute(tx);
}

/** Replaces the events of a block; `written_by` stays, so that no reader gets it once more. */
export async function replaceBlock(
  tx: Tx,
  block: BlockName,
  contents: { bytes: Buffer; eventCount: number },
): Promise<void> {
  await sql`
    update event_block set events = ${contents.bytes}, event_count = ${contents.eventCount},
      duplicates = '{}', revision = revision + 1
    where written_by = ${block.writtenBy}::xid8 and sequence = ${block.sequence}
      and organization_id = ${block.organizationId}`.execute(tx);
}

export async function removeBlock(tx: Tx, block: BlockName): Promise<void> {
  await sql`
    delete from event_block
    where written_by = ${block.writtenBy}::xid8 and sequence = ${block.sequence}
      and organization_id = ${block.organizationId}`.execute(tx);
}
