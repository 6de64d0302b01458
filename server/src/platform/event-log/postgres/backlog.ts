import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import type { Backlog } from '../event-log.ts';
import { isUnread, type BlockRange } from './block-queries.ts';
import type { PostgresPosition } from './position.ts';

const maxBacklog = 10_000;
/**
 * The oldest block is among the first few blocks: transactions overtake each other by seconds at
 * most.
 */
const maxLagBlocks = 100;

/** Measures how far a reader is behind the log. */
export async function measureBacklog(db: Db, position: PostgresPosition): Promise<Backlog> {
  const { blocks, ageMs } = await measure(db, position, maxBacklog);
  return { blocks: Math.min(blocks, maxBacklog), ageMs };
}

/** The age of the oldest unread block; 0 if there is none. */
export async function measureLag(db: Db, position: PostgresPosition): Promise<number> {
  return (await measure(db, position, maxLagBlocks)).ageMs;
}

async function measure(db: Db, position: PostgresPosition, limit: number): Promise<Backlog> {
  const range = { ...position, receivedBeforeMs: null };
  const next = { ...range, base: position.target ?? position.base, target: null, after: null };
  if (position.target === null) return measureRange(db, next, limit);
  // The rest of the step, plus the blocks added since it began.
  const rest = await measureRange(db, range, limit);
  const since = await measureRange(db, next, limit);
  return { blocks: rest.blocks + since.blocks, ageMs: Math.max(rest.ageMs, since.ageMs) };
}

async function measureRange(db: Db, range: BlockRange, limit: number): Promise<Backlog> {
  const { rows } = await sql<{ blocks: number; age_ms: number | null }>`
    select count(*) as blocks,
      extract(epoch from clock_timestamp() - min(received_at))::float8 * 1000 as age_ms
    from (
      select received_at
      from (select coalesce(${range.target}::pg_snapshot, pg_current_snapshot()) as target) moment,
        event_block as block
      where ${isUnread(range)}
      order by written_by, sequence limit ${limit}
    ) unread`.execute(db);
  const [row] = rows;
  return { blocks: row?.blocks ?? 0, ageMs: Math.max(0, row?.age_ms ?? 0) };
}

export async function countLoggedEvents(db: Db): Promise<number> {
  const { rows } = await sql<{ events: number }>`
    select coalesce(sum(event_count), 0)::bigint as events from event_block`.execute(db);
  return rows[0]?.events ?? 0;
}

/**
 * The day of the first block, because days are dropped as a whole. While the log still contains the
 * block with the first number, which is among the first in log order, no day has been dropped.
 */
export async function readFirstDay(db: Db): Promise<number> {
  const { rows } = await sql<{ is_whole: boolean; day_s: number | null }>`
    select exists (
        select from (
          select sequence, joined_sequences from event_block
          order by written_by, event_block.sequence limit 100
        ) first_block
        where sequence = 1 or 1 = any(joined_sequences)
      ) as is_whole,
      (select extract(epoch from date_trunc('day', min(received_at)))::float8 from event_block) as day_s
  `.execute(db);
  const [row] = rows;
  if (row === undefined || row.day_s === null) return Infinity;
  return row.is_whole ? -Infinity : row.day_s * 1_000;
}
