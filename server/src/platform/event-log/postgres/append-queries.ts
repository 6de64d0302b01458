/** The SQL for adding blocks to the event log. */
import { sql } from 'kysely';
import { bytesArray } from '../../database/binary-arrays.ts';
import type { Db } from '../../database/database.ts';
import type { StreamPlace } from '../block-stream.ts';
import type { AddedBlock } from '../event-log.ts';

/** A block in the form that the database stores. */
export type NewBlock = {
  organizationId: string;
  eventCount: number;
  /** Empty if a stream holds the bytes. */
  bytes: Buffer;
  place: StreamPlace | null;
};

/**
 * Adds blocks and the keys of their events, in order, in the format of `filledUuidArray`. A single
 * statement is its own transaction and takes one round trip, which is why this takes no `Tx`.
 */
export async function insertBlocks(
  db: Db,
  blocks: readonly NewBlock[],
  keys: Buffer,
): Promise<AddedBlock[]> {
  const organizationIds = blocks.map(({ organizationId }) => organizationId);
  const counts = blocks.map(({ eventCount }) => eventCount);
  const bytes = blocks.map((block) => block.bytes);
  const places = placeArrays(blocks.map(({ place }) => place));
  const { rows } = await sql<{ sequence: number | null; left_out: number[] }>`
    select added_sequence as sequence, left_out
    from append_event_blocks(${organizationIds}::text[], ${counts}::integer[],
      ${bytesArray(bytes)}::bytea[], ${keys}::uuid[], ${places.sequences}::bigint[],
      ${places.messages}::uuid[], ${places.sizes}::integer[])
  `.execute(db);
  return rows.map(({ sequence, left_out: leftOut }) => ({ sequence, leftOut }));
}

export type PlaceArrays = {
  sequences: (number | null)[];
  messages: (string | null)[];
  sizes: (number | null)[];
};

/** Places as arrays of columns. The arrays are empty if there are no places at all. */
export function placeArrays(places: readonly (StreamPlace | null)[]): PlaceArrays {
  if (places.every((place) => place === null)) return { sequences: [], messages: [], sizes: [] };
  return {
    sequences: places.map((place) => place?.sequence ?? null),
    messages: places.map((place) => place?.messageId ?? null),
    sizes: places.map((place) => place?.sizeBytes ?? null),
  };
}
