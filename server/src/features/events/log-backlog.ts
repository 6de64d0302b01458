import { sql } from 'kysely';
import type { Db } from '../../platform/database/database.ts';
import type { LogPosition } from './log.ts';

/** What a reader at a position has not had yet. */
export type Backlog = {
  /** At most `mostBacklog`. */
  blocks: number;
  /** How long the oldest of it has been in the log. */
  ageMs: number;
};

const mostBacklog = 10_000;

/** How far a reader is behind the log. */
export async function measureBacklog(db: Db, position: LogPosition): Promise<Backlog> {
  const { writtenBy, sequence } = position.after ?? { writtenBy: '0', sequence: 0 };
  // In a step, what its target sees is read in order, so only what lies behind `after` is left.
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
      order by written_by, sequence limit ${mostBacklog}
    ) unread`.execute(db);
  const [row] = rows;
  return { blocks: row?.blocks ?? 0, ageMs: Math.max(0, row?.age_ms ?? 0) };
}
