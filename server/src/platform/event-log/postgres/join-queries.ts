import { sql } from 'kysely';
import { bytesArray, int8Array } from '../../database/binary-arrays.ts';
import type { Db, Tx } from '../../database/database.ts';
import type { StreamPlace } from '../block-stream.ts';
import { placeArrays } from './append-queries.ts';
import { placeOfRow, type PlaceColumns } from './block-queries.ts';

/** A block that may be joined, without its events. */
export type OldBlock = {
  readonly writtenBy: string;
  readonly sequence: number;
  readonly revision: number;
  readonly organizationId: string;
  readonly receivedAtMs: number;
  readonly day: number;
  readonly eventCount: number;
  readonly sizeBytes: number;
};

/**
 * The first blocks after those already joined, in log order. All transactions up to that of the
 * last block have ended, so no block can appear between them.
 */
export async function selectOldBlocks(db: Db, limit: number): Promise<OldBlock[]> {
  const { rows } = await sql<OldBlock>`
    select written_by::text as "writtenBy", sequence, revision, organization_id as "organizationId",
      (extract(epoch from received_at) * 1000)::double precision as "receivedAtMs",
      (received_at at time zone 'UTC')::date - '1970-01-01'::date as day,
      event_count as "eventCount", coalesce(stream_bytes, octet_length(events)) as "sizeBytes"
    from event_block
    where written_by > (select joined_to from event_block_joining)
      and written_by < pg_snapshot_xmin(pg_current_snapshot())
    order by event_block.written_by, event_block.sequence limit ${limit}`.execute(db);
  return rows;
}

/** The database's clock, in milliseconds since the Unix epoch. */
export async function databaseNowMs(db: Db): Promise<number> {
  const { rows } = await sql<{ now_ms: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::double precision as now_ms`.execute(db);
  return rows[0]?.now_ms ?? 0;
}

export type BlockBytes = {
  readonly duplicates: number[];
  /** Empty if a stream holds them. */
  events: Buffer;
  readonly place: StreamPlace | null;
};

/** The events of blocks, in the order of `blocks`. */
export async function selectBytes(tx: Tx, blocks: readonly OldBlock[]): Promise<BlockBytes[]> {
  const { rows } = await sql<Omit<BlockBytes, 'place'> & PlaceColumns>`
    select block.duplicates, block.events, block.stream_sequence, block.stream_message,
      block.stream_bytes
    from unnest(${blocks.map(({ writtenBy }) => writtenBy)}::xid8[], ${sequencesOf(blocks)}::int8[])
      with ordinality as wanted (written_by, sequence, place)
    join event_block block on block.written_by = wanted.written_by
      and block.sequence = wanted.sequence and ${isBetween(blocks)}
    order by wanted.place`.execute(tx);
  return rows.map((row) => ({
    duplicates: row.duplicates,
    events: row.events,
    place: placeOfRow(row),
  }));
}

/** Blocks of one organization and day that become one block. */
export type JoinedGroup = {
  readonly blocks: readonly OldBlock[];
  /** The events of all blocks; null to leave the bytes of a single block where they are. */
  readonly bytes: Buffer | null;
  /** The place of the bytes if a stream holds them; `bytes` is then empty. */
  readonly place: StreamPlace | null;
};

/**
 * Replaces each group by one block at the end of the joined range: `writtenBy` is the range's last
 * transaction.
 *
 * @throws Error if a block has changed since it was read
 */
export async function replaceGroups(
  tx: Tx,
  groups: readonly JoinedGroup[],
  writtenBy: string,
): Promise<void> {
  const blocks = groups.flatMap((group) => group.blocks);
  const places = placeArrays(groups.map(({ place }) => place));
  const groupNumbers = groups.flatMap((group, index) => group.blocks.map(() => index + 1));
  const { rows } = await sql<{ removed: number }>`
    with wanted as (
      select * from unnest(${blocks.map((block) => block.writtenBy)}::xid8[],
        ${sequencesOf(blocks)}::int8[], ${blocks.map(({ revision }) => revision)}::integer[],
        ${groupNumbers}::integer[]) as wanted (written_by, sequence, revision, place)
    ), removed as (
      delete from event_block block using wanted
      where block.written_by = wanted.written_by and block.sequence = wanted.sequence
        and block.revision = wanted.revision and ${isBetween(blocks)}
      returning wanted.place, block.*
    ), joined as (
      insert into event_block (sequence, organization_id, received_at, written_by, event_count,
        duplicates, revision, events, stream_sequence, stream_message, stream_bytes,
        joined_written_by, joined_sequences, joined_received_at, joined_counts)
      select sequences[cardinality(sequences)], organization_id, received_at,
        ${writtenBy}::xid8, event_count, case when is_kept then duplicates else '{}' end,
        revision + 1, case when is_kept then events else given.bytes end,
        case when is_kept then stream_sequence else given.sequence end,
        case when is_kept then stream_message else given.message end,
        case when is_kept then stream_bytes else given.size end,
        writers, sequences, moments, counts
      from (
        select place, organization_id, max(received_at) as received_at,
          sum(event_count)::integer as event_count, min(duplicates) as duplicates,
          max(revision) as revision, (array_agg(events))[1] as events,
          min(stream_sequence) as stream_sequence, (array_agg(stream_message))[1] as stream_message,
          min(stream_bytes) as stream_bytes,
          array_agg(written_by order by written_by, sequence) as writers,
          array_agg(sequence order by written_by, sequence) as sequences,
          array_agg(received_at order by written_by, sequence) as moments,
          array_agg(event_count order by written_by, sequence) as counts
        from removed group by place, organization_id
      ) block
      join (
        select *, bytes = '' and sequence is null as is_kept
        from unnest(${bytesArray(groups.map(({ bytes }) => bytes ?? Buffer.alloc(0)))}::bytea[],
          ${places.sequences}::bigint[], ${places.messages}::uuid[], ${places.sizes}::integer[])
          with ordinality as given (bytes, sequence, message, size, place)
      ) given using (place)
    )
    select count(*)::integer as removed from removed`.execute(tx);
  if (rows[0]?.removed !== blocks.length) throw new Error('A block has changed since it was read.');
}

/** Records that everything up to this transaction has been joined. */
export async function saveJoinedTo(tx: Tx, writtenBy: string): Promise<void> {
  await sql`update event_block_joining set joined_to = ${writtenBy}::xid8`.execute(tx);
}

const sequencesOf = (blocks: readonly OldBlock[]): Buffer =>
  int8Array(blocks.map(({ sequence }) => sequence));

/** Excludes the partitions of other days. */
function isBetween(blocks: readonly OldBlock[]) {
  const moments = blocks.map(({ receivedAtMs }) => receivedAtMs);
  const [first, last] = [Math.min(...moments) - 1, Math.max(...moments) + 1];
  return sql`block.received_at between to_timestamp(${first}::double precision / 1000)
    and to_timestamp(${last}::double precision / 1000)`;
}
