/** The event log of an aged world, written as if its events had arrived over many days. */
import { sql } from 'kysely';
import type { Db } from '../../server/src/platform/database/database.ts';
import { dayMs } from '../../server/src/platform/values/time.ts';
import { useUpTransactions } from './seed-blocks.ts';

export const eventsOfDay = 20_000;
export const eventsOfDayOfOthers = 4_400;
const blocksOfTransaction = 100;
export const today = Math.floor(Date.now() / dayMs) * dayMs;

function dateOf(daysAgo: number): string {
  return new Date(today - daysAgo * dayMs).toISOString().slice(0, 10);
}

type StoredDay = { day: number; transaction: number; copies: readonly string[] };

/**
 * Stores the blocks of a day for all organizations, in the order of their arrival.
 *
 * @returns the number of transactions used
 */
export async function storeDay(db: Db, { day, transaction, copies }: StoredDay): Promise<number> {
  const from = dateOf(day);
  await sql`select create_day_partition('event_block', 'received_at', ${from}::date)`.execute(db);
  const { rows } = await sql<{ blocks: number }>`
    select (count(*) filter (where organization_id = 'org_other') * ${copies.length}::int
      + count(*))::int as blocks
    from seeded where received_at >= ${from}::date and received_at < ${from}::date + 1`.execute(db);
  const transactions = Math.ceil((rows[0]?.blocks ?? 0) / blocksOfTransaction);
  await useUpTransactions(db, transaction + transactions);
  await sql`
    insert into event_block (organization_id, received_at, written_by, event_count, events)
    select organization_id, received_at,
      (${transaction}::bigint + (row_number() over (order by received_at, place) - 1)
        / ${blocksOfTransaction}::int)::text::xid8,
      event_count, events
    from (
      select coalesce(copy.organization_id, seeded.organization_id) as organization_id,
        received_at, event_count, events, random() as place
      from seeded
      left join lateral unnest(
        case when seeded.organization_id = 'org_other'
        then ${['org_other', ...copies]}::text[] end) as copy (organization_id) on true
      where received_at >= ${from}::date and received_at < ${from}::date + 1) block
    order by received_at, place`.execute(db);
  return transactions;
}

/** Fills the ledger as the events of the last days would, with ordered ids in each organization. */
export async function fillLedger(db: Db, organizations: number): Promise<void> {
  const ofDay = organizations * eventsOfDayOfOthers + 2 * eventsOfDay;
  for (const [table, firstDay, days] of [
    ['event_key_a', 1, 1],
    ['event_key_b', 4, 3],
  ] as const) {
    await sql`
      insert into ${sql.table(table)} (event_key)
      select (substr(md5('org' || n % ${organizations}::int), 1, 6) || lpad(to_hex(
          ${today - firstDay * dayMs}::bigint + (n * ${dayMs}::bigint) / ${ofDay}::bigint), 12, '0')
        || substr(md5(n::text), 1, 14))::uuid
      from generate_series(1, ${ofDay * days}::bigint) n on conflict do nothing`.execute(db);
  }
}
