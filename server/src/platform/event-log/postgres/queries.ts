/** The SQL of the event log: adding blocks, and reading them in pages. */
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

/** One read: the blocks that `target` sees and `base` does not. */
export type BlockRange = {
  base: string;
  /** Null: a snapshot taken by the statement. */
  target: string | null;
  after: { writtenBy: string; sequence: number } | null;
  /** No block of the range was received before. */
  receivedFromMs: number;
};

export type BlockRow = {
  sequence: number;
  organizationId: string;
  receivedAtMs: number;
  writtenBy: string;
  eventCount: number;
  duplicates: number[];
  /** Null for a block that the caller has named as known. */
  events: Buffer | null;
};

export type BlockPage = {
  rows: BlockRow[];
  target: string;
  /** The database's clock. */
  nowMs: number;
  /** True if this is the last page of the range. */
  isEndOfRange: boolean;
};

export type BlockPageOptions = {
  limitBlocks: number;
  /** The block with which this many events are reached is the last one. */
  limitEvents: number;
  /** Left out: the blocks of all organizations. */
  organizationId?: string;
  /** Blocks whose events the caller has, as long as they were never rewritten. */
  known: readonly number[];
};

type Row = {
  target: string;
  now_ms: number;
  page_blocks: number | null;
  sequence: number | null;
  organization_id: string;
  received_ms: number;
  written_by: string;
  event_count: number;
  duplicates: number[];
  events: Buffer | null;
};

/**
 * A page of blocks in order of (written_by, sequence), the primary key: both for a tail, which
 * reads the end of the index, and for a rebuild, which reads all of it, a page is a short range.
 * By sequence alone, a tail would have to look at every block since the log began. The bound of
 * received_at leaves out the partitions of other days.
 */
export async function selectBlocks(
  db: Db,
  range: BlockRange,
  { limitBlocks, limitEvents, known, organizationId }: BlockPageOptions,
): Promise<BlockPage> {
  const after = range.after ?? { writtenBy: '0', sequence: 0 };
  const ofOrganization =
    organizationId === undefined ? sql`` : sql`and organization_id = ${organizationId}`;
  const { rows } = await sql<Row>`
    with moment as materialized (
      select coalesce(${range.target}::pg_snapshot, pg_current_snapshot()) as target
    )
    select moment.target::text as target, (extract(epoch from clock_timestamp()) * 1000)::double precision as now_ms,
      page.page_blocks, page.sequence, page.organization_id, page.received_ms,
      page.written_by::text as written_by, page.event_count, page.duplicates,
      case when page.revision = 0 and page.sequence = any(${known}::bigint[]) then null
        else page.events end as events
    from moment left join lateral (
      select block.*, (extract(epoch from received_at) * 1000)::double precision as received_ms,
        count(*) over () as page_blocks,
        sum(event_count) over (order by written_by, sequence) - event_count as events_before
      from (
        select sequence, organization_id, received_at, written_by, event_count, duplicates,
          revision, events
        from event_block
        where written_by >= pg_snapshot_xmin(${range.base}::pg_snapshot)
          and (written_by, sequence) > (${after.writtenBy}::xid8, ${after.sequence}::bigint)
          and received_at >= to_timestamp(${range.receivedFromMs}::double precision / 1000)
          and not pg_visible_in_snapshot(written_by, ${range.base}::pg_snapshot)
          and pg_visible_in_snapshot(written_by, moment.target)
          ${ofOrganization}
        order by written_by, sequence
        limit ${limitBlocks}
      ) block
    ) page on page.events_before < ${limitEvents}
    order by page.written_by, page.sequence
  `.execute(db);
  const [first] = rows;
  if (first === undefined) throw new Error('The database gave no snapshot.');
  const blocks = rows.filter(({ sequence }) => sequence !== null);
  const pageBlocks = first.page_blocks ?? 0;
  return {
    rows: blocks.map(toBlockRow),
    target: first.target,
    nowMs: first.now_ms,
    isEndOfRange: pageBlocks < limitBlocks && blocks.length === pageBlocks,
  };
}

function toBlockRow(row: Row): BlockRow {
  return {
    sequence: row.sequence ?? 0,
    organizationId: row.organization_id,
    receivedAtMs: row.received_ms,
    writtenBy: row.written_by,
    eventCount: row.event_count,
    duplicates: row.duplicates,
    events: row.events,
  };
}
