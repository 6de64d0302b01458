import { sql } from 'kysely';
import type { Tx } from '../../../../platform/database/database.ts';
import { isBeforeLog, keepOldPeriods, keepOldRows } from '../table-queries.ts';
import { contentColumns } from './contribution.ts';

/**
 * Copies the days before the log's first day into the copies of a rebuild, and recalculates totals.
 */
export async function keepOldEngagement(tx: Tx, schema: string, firstDayMs: number): Promise<void> {
  const tables = ['content_counter', 'audience_counter', 'viewer_set', 'reactor_set'] as const;
  await keepOldPeriods(tx, { schema, tables, firstDayMs });
  const isOld = isBeforeLog(sql`kept.day::timestamp at time zone 'UTC'`, firstDayMs);
  await keepOldRows(tx, { schema, table: 'content_day', isOld });
  await sumTotals(tx, schema);
}

async function sumTotals(tx: Tx, schema: string): Promise<void> {
  const copy = sql.id(schema, 'content_counter');
  const columns = contentColumns.map((column) => sql.ref(column));
  const sums = columns.map((column) => sql`sum(${column})::bigint`);
  await sql`delete from ${copy} where grain = 'total'`.execute(tx);
  await sql`
    insert into ${copy} (organization_id, grain, period, content_id, ${sql.join(columns)})
    select organization_id, 'total', 'epoch', content_id, ${sql.join(sums)}
    from ${copy} where grain = 'day' group by organization_id, content_id`.execute(tx);
}
