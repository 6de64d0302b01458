/** The SQL of adding blocks to the event log. */
import { sql } from 'kysely';
import { bytesArray } from '../../database/binary-arrays.ts';
import type { Db } from '../../database/database.ts';
import type { AddedBlock } from '../event-log.ts';

/** A block in the form that the database receives. */
export type NewBlock = { organizationId: string; eventCount: number; bytes: Buffer };

/**
 * Adds blocks and the keys of their events, in order, as `filledUuidArray` has them. It is one
 * statement, so it is a transaction by itself and takes one round trip: that is why it wants no `Tx`.
 */
export async function insertBlocks(
  db: Db,
  blocks: readonly NewBlock[],
  keys: Buffer,
): Promise<AddedBlock[]> {
  const organizationIds = blocks.map(({ organizationId }) => organizationId);
  const counts = blocks.map(({ eventCount }) => eventCount);
  const bytes = blocks.map((block) => block.bytes);
  const { rows } = await sql<{ sequence: number | null; left_out: number[] }>`
    select added_sequence as sequence, left_out
    from append_event_blocks(${organizationIds}::text[], ${counts}::integer[],
      ${bytesArray(bytes)}::bytea[], ${keys}::uuid[])
  `.execute(db);
  return rows.map(({ sequence, left_out: leftOut }) => ({ sequence, leftOut }));
}
