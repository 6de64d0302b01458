/** The SQL for reading the event log in pages. */
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../../database/database.ts';
import { dayMs } from '../../values/time.ts';
import type { StreamPlace } from '../block-stream.ts';
import { oldestUnseen, type BlockKey, type Place } from './position.ts';

/** One read: the blocks visible to `target` but not to `base`. */
export type BlockRange = {
  base: string;
  /** Null to use a snapshot taken by the statement itself. */
  target: string | null;
  after: Place | null;
  /** Skips blocks received before this time. */
  receivedFromMs: number;
  /** Skips blocks received at this time or later; null for no limit. */
  receivedBeforeMs: number | null;
};

/** One of the blocks that were joined. */
type Member = {
  sequence: number;
  receivedAtMs: number;
  eventCount: number;
  /** Whether it belongs to the range. */
  isUnread: boolean;
};

export type BlockRow = {
  sequence: number;
  organizationId: string;
  receivedAtMs: number;
  writtenBy: string;
  eventCount: number;
  duplicates: number[];
  /** Null for a block that was not joined. */
  members: Member[] | null;
  /** Null for a block that the caller already has; empty if a stream holds the bytes. */
  events: Buffer | null;
  place: StreamPlace | null;
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
  /** The page ends with the block that reaches this many events. */
  limitEvents: number;
  /** Default: the blocks of all organizations. */
  organizationId?: string;
  /** Blocks whose events the caller already has; they are fetched only if they were rewritten. */
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
  members: [number, number, number, boolean][] | null;
  events: Buffer | null;
} & PlaceColumns;

/**
 * A page of blocks in order of (written_by, sequence), the primary key. A page is a short range of
 * the index, both for a tail, which reads its end, and for a rebuild, which reads all of it.
 * Ordered by sequence alone, a tail would have to look at every block since the log began. The
 * bounds of received_at exclude the partitions of other days.
 */
export async function selectBlocks(
  db: Db,
  range: BlockRange,
  { limitBlocks, limitEvents, known, organizationId }: BlockPageOptions,
): Promise<BlockPage> {
  const { rows } = await sql<Row>`
    with moment as materialized (
      select coalesce(${range.target}::pg_snapshot, pg_current_snapshot()) as target
    )
    select moment.target::text as target, (extract(epoch from clock_timestamp()) * 1000)::double precision as now_ms,
      page.page_blocks, page.sequence, page.organization_id, page.received_ms,
      page.written_by::text as written_by, page.event_count, page.duplicates, page.members,
      case when page.revision = 0 and page.sequence = any(${known}::bigint[]) then null
        else page.events end as events,
      page.stream_sequence, page.stream_message, page.stream_bytes
    from moment left join lateral (
      select block.*, (extract(epoch from received_at) * 1000)::double precision as received_ms,
        count(*) over () as page_blocks,
        sum(event_count) over (order by written_by, sequence) - event_count as events_before,
        case when joined_counts is not null then ${membersOf(range)} end as members
      from (
        select sequence, organization_id, received_at, written_by, event_count, duplicates,
          revision, events, stream_sequence, stream_message, stream_bytes,
          joined_written_by, joined_sequences, joined_received_at, joined_counts
        from event_block as block
        where ${isUnread(range, organizationId)}
        order by ${organizationId === undefined ? sql`` : sql`organization_id,`} written_by, sequence
        limit ${limitBlocks}
      ) block
    ) page on page.events_before < ${limitEvents}
    order by page.written_by, page.sequence
  `.execute(db);
  const [first] = rows;
  if (first === undefined) throw new Error('The database returned no snapshot.');
  const blocks = rows.filter(({ sequence }) => sequence !== null);
  const pageBlocks = first.page_blocks ?? 0;
  return {
    rows: blocks.map(toBlockRow),
    target: first.target,
    nowMs: first.now_ms,
    isEndOfRange: pageBlocks < limitBlocks && blocks.length === pageBlocks,
  };
}

/**
 * The condition for rows of `event_block as block` in a range, with `moment.target` in scope. All
 * members of a block were written by transactions up to its own `written_by`, so the same bounds
 * find both kinds of blocks.
 *
 * The blocks of one organization are selected by a range of (organization_id, written_by, sequence)
 * rather than an equality, because then only the index by organization provides their order. With
 * an equality, a generic plan may scan the blocks of all organizations in primary key order.
 *
 * The subqueries hide the organization from the planner. If it knows the value, it multiplies the
 * selectivities of both bounds and may expect a single row from each partition. It then sorts all
 * remaining blocks instead of merging the partitions in order, so each page reads everything after
 * it: 22,474 storage pages instead of 3,378 for a walk over 10,000 blocks.
 */
export function isUnread(range: BlockRange, organizationId?: string): RawBuilder<unknown> {
  const from = laterOf(range.after, oldestUnseen(range.base));
  const place = sql`${from.writtenBy}::xid8, ${from.sequence}::bigint`;
  const order =
    organizationId === undefined
      ? sql`(written_by, sequence) > (${place})`
      : sql`(organization_id, written_by, sequence) > ((select ${organizationId}::text), ${place})
          and (organization_id, written_by, sequence)
            <= ((select ${organizationId}::text), ${maxXid}::xid8, ${Number.MAX_SAFE_INTEGER}::bigint)`;
  return sql`${order}
    and received_at >= to_timestamp(${range.receivedFromMs}::double precision / 1000)
    ${isBefore(sql`received_at`, endOfDay(range.receivedBeforeMs))}
    and case when joined_counts is null
      then ${isInRange(range, { writtenBy: sql`written_by`, receivedAt: sql`received_at` })}
      else exists (select from ${members} where ${isUnreadMember(range)}) end`;
}

const maxXid = '18446744073709551615';

/** The condition for the range between two snapshots and two times. */
function isInRange(
  { base, receivedFromMs, receivedBeforeMs }: BlockRange,
  { writtenBy, receivedAt }: Record<'writtenBy' | 'receivedAt', RawBuilder<unknown>>,
): RawBuilder<unknown> {
  return sql`not pg_visible_in_snapshot(${writtenBy}, ${base}::pg_snapshot)
    and pg_visible_in_snapshot(${writtenBy}, moment.target)
    and ${receivedAt} >= to_timestamp(${receivedFromMs}::double precision / 1000)
    ${isBefore(receivedAt, receivedBeforeMs)}`;
}

const members = sql`unnest(block.joined_written_by, block.joined_sequences,
    block.joined_received_at, block.joined_counts) with ordinality
  as member (writer, number, received, events, place)`;

/** Whether a reader at the start of the range still has to read a member: see `Place`. */
function isUnreadMember(range: BlockRange): RawBuilder<unknown> {
  const { writtenBy, sequence } = range.after?.membersAfter ?? range.after ?? startPlace;
  return sql`${isInRange(range, { writtenBy: sql`member.writer`, receivedAt: sql`member.received` })}
    and (member.writer, member.number) > (${writtenBy}::xid8, ${sequence}::bigint)`;
}

function membersOf(range: BlockRange): RawBuilder<unknown> {
  return sql`(select json_agg(json_build_array(member.number,
      (extract(epoch from member.received) * 1000)::double precision, member.events,
      coalesce(${isUnreadMember(range)}, false)) order by member.place)
    from ${members})`;
}

function isBefore(column: RawBuilder<unknown>, moment: number | null): RawBuilder<unknown> {
  if (moment === null) return sql``;
  return sql`and ${column} < to_timestamp(${moment}::double precision / 1000)`;
}

/** A joined block has the time of its last member, which is on the same day as the others. */
function endOfDay(momentMs: number | null): number | null {
  return momentMs === null ? null : Math.ceil(momentMs / dayMs) * dayMs;
}

export const startPlace: BlockKey = { writtenBy: '0', sequence: 0 };

function laterOf(after: Place | null, oldest: string): BlockKey {
  if (after === null || BigInt(after.writtenBy) < BigInt(oldest)) {
    return { writtenBy: oldest, sequence: 0 };
  }
  return after;
}

function toBlockRow(row: Row): BlockRow {
  return {
    sequence: row.sequence ?? 0,
    organizationId: row.organization_id,
    receivedAtMs: row.received_ms,
    writtenBy: row.written_by,
    eventCount: row.event_count,
    duplicates: row.duplicates,
    members:
      row.members?.map(([sequence, receivedAtMs, eventCount, isUnread]) => ({
        sequence,
        receivedAtMs,
        eventCount,
        isUnread,
      })) ?? null,
    events: row.events,
    place: placeOfRow(row),
  };
}

/** The columns of a block's place in a stream. */
export type PlaceColumns = {
  stream_sequence: number | null;
  stream_message: string | null;
  stream_bytes: number | null;
};

export function placeOfRow(row: PlaceColumns): StreamPlace | null {
  const { stream_sequence: sequence, stream_message: messageId, stream_bytes: sizeBytes } = row;
  if (sequence === null || messageId === null || sizeBytes === null) return null;
  return { sequence, messageId, sizeBytes };
}
