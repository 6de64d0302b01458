import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import type { Backlog } from '../event-log.ts';
import type { PostgresPosition } from './position.ts';

const maxBacklog = 10_000;

/** Measures how far a reader is behind the log. */
export async function measureBacklog(db: Db, position: PostgresPosition): Promise<Backlog> {
  const { writtenBy, sequence } = position.after ?? { writtenBy: '0', sequence: 0 };
  // Within a step, everything that its target sees is read in order, so only what lies behind
  // `after` is left.
  const { rows } = await sql<{ blocks: number; age_ms: number | null }>`
    select count(*) as blocks,
      extract(epoch from clock_timestamp() - min(received_at))::float8 * 1000 as age_ms
    from (
      select received_at from event_block
      where written_by >= pg_snapshot_xmin(${position.base}::pg_snapshot)
        and received_at >= to_timestamp(${position.receivedFromMs}::float8 / 1000)
        and not pg_visible_in_snapshot(written_by, ${position.base}::pg_snapshot)
        and ((written_by, sequence) > (${writtenBy}::xid8, ${sequence}::bigint)
          or not pg_visible_in_snapshot(written_by,
            coalesce(${position.target}::pg_snapshot, pg_current_snapshot())))
      order by written_by, sequence limit ${maxBacklog}
    ) unread`.execute(db);
  const [row] = rows;
  return { blocks: row?.blocks ?? 0, ageMs: Math.max(0, row?.age_ms ?? 0) };
}

/** Events in the log. */
export async function countEvents(db: Db): Promise<number> {
  const { rows } = await sql<{ events: number }>`
    select coalesce(sum(event_count), 0)::bigint as events from event_block`.execute(db);
  return rows[0]?.events ?? 0;
}

/** The day of the first block: days are dropped as a whole. */
export async function readFirstDay(db: Db): Promise<number> {
  const { rows } = await sql<{ first: number | null; day_s: number | null }>`
    select min(sequence) as first,
      extract(epoch from date_trunc('day', min(received_at)))::float8 as day_s
    from event_block`.execute(db);
  const [row] = rows;
  if (row === undefined || row.day_s === null || row.first === null) return Infinity;
  return row.first === 1 ? -Infinity : row.day_s * 1_000;
}
