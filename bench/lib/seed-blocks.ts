/** Fills the event log by SQL, far faster than `append`, and counts the storage pages it reads. */
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../../server/src/platform/database/database.ts';
import { median } from './report.ts';

const blocksOfTransaction = 100;

export type SeededBlocks = {
  readonly dayStartMs: number;
  readonly count: number;
  /** SQL expression for the organization of block `n`. */
  readonly organizationId: RawBuilder<string>;
  /** The encoded events of each block, and their number. */
  readonly bytes: Buffer;
  readonly eventCount?: number;
};

export class BlockSeeder {
  readonly #db: Db;
  #transaction = 100;

  constructor(db: Db) {
    this.#db = db;
  }

  async createDay(dayStartMs: number): Promise<void> {
    const date = new Date(dayStartMs).toISOString().slice(0, 10);
    await sql`select create_day_partition('event_block', 'received_at', ${date}::date)`.execute(
      this.#db,
    );
  }

  /** Adds blocks, spread evenly over a day. */
  async add(blocks: SeededBlocks): Promise<void> {
    const { dayStartMs, count, organizationId, bytes, eventCount = 1 } = blocks;
    const transactions = Math.ceil(count / blocksOfTransaction);
    await useUpTransactions(this.#db, this.#transaction + transactions);
    await sql`
      insert into event_block (organization_id, received_at, written_by, event_count, events)
      select ${organizationId}, to_timestamp(${dayStartMs}::float8 / 1000 + n * 86000.0 / ${count}::int),
        (${this.#transaction}::bigint + n / ${blocksOfTransaction}::int)::text::xid8,
        ${eventCount}::int, ${bytes}
      from generate_series(0, ${count - 1}::int) n`.execute(this.#db);
    this.#transaction += transactions;
  }
}

/** Advances the transaction counter, because the next blocks may contain ids up to this one. */
export async function useUpTransactions(db: Db, next: number): Promise<void> {
  await sql`${sql.raw(`do $$ begin
    while pg_current_xact_id()::text::numeric < ${next} loop commit; end loop; end $$`)}`.execute(
    db,
  );
}

export type ReadCost = { readonly pages: number; readonly ms: number };

/** The cost of `work` to the log: mean storage pages and median time. Runs it once as a warm-up. */
export async function costOfReading(
  db: Db,
  rounds: number,
  work: () => Promise<unknown>,
): Promise<ReadCost> {
  const times: number[] = [];
  await work();
  const before = await touchedPages(db);
  for (let round = 0; round < rounds; round += 1) {
    const startedAt = performance.now();
    await work();
    times.push(performance.now() - startedAt);
  }
  return { pages: Math.round(((await touchedPages(db)) - before) / rounds), ms: median(times) };
}

async function touchedPages(db: Db): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(db);
  await sql`select pg_stat_clear_snapshot()`.execute(db);
  const { rows } = await sql<{ pages: number }>`
    select sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::int as pages
    from pg_statio_user_tables where relname like 'event\\_block%'`.execute(db);
  return rows[0]?.pages ?? 0;
}
