/**
 * Leases: the right to work on something for a limited time. They are used for long-running work
 * that one process of the cluster owns, such as a projection, and for chores that one process does
 * for the whole cluster.
 *
 *   (free) ── claim ──▶ held ── renew ──▶ held ── release, or its time runs out ──▶ (free)
 *
 * 1. A lease has one holder at a time, by the database's clock alone.
 * 2. A lease only saves duplicate work. A holder that was paused briefly continues alongside the
 *    next one, so the writes of both must be fenced (by a revision, say) or idempotent.
 * 3. A database crash may lose a claim, because its commit does not wait for the disk. Work then
 *    starts twice, which rule 2 allows.
 *
 * The queue and the webhook senders have leases of their own: see docs/decisions/0021.
 */
import { sql } from 'kysely';
import type { Db, Tx } from '../database/database.ts';

export type LeaseClaim = {
  readonly names: readonly string[];
  /** A UUID of the claimer. Claiming again with the same UUID renews its leases. */
  readonly holderId: string;
  readonly leaseMs: number;
};

/**
 * Claims the free leases, and renews those that the holder already has, in one statement.
 *
 * @returns the names that it holds now, for `leaseMs` from now on
 */
export async function claimLeases(db: Db, claim: LeaseClaim): Promise<string[]> {
  return writeLeases(
    db,
    claim,
    sql`where lease.holder_id = excluded.holder_id or lease.held_until < clock_timestamp()`,
  );
}

/** Claims leases even if another process holds them. */
export async function takeOverLeases(db: Db, claim: LeaseClaim): Promise<void> {
  await writeLeases(db, claim, sql``);
}

async function writeLeases(
  db: Db,
  { names, holderId, leaseMs }: LeaseClaim,
  condition: ReturnType<typeof sql>,
): Promise<string[]> {
  // The setting applies to the commit of this statement, or of the caller's transaction. Rows are
  // always in the same order, so that two claimers of several leases cannot deadlock.
  const { rows } = await sql<{ claimed: string[] }>`
    with claimed as (
      insert into lease (name, holder_id, held_until)
      select name, ${holderId}::uuid,
        clock_timestamp() + make_interval(secs => ${leaseMs / 1_000}::float8)
      from unnest(${names}::text[]) as wanted (name) order by name
      on conflict (name) do update
        set holder_id = excluded.holder_id, held_until = excluded.held_until
        ${condition}
      returning name
    )
    select set_config('synchronous_commit', 'off', true), array(select name from claimed) as claimed
  `.execute(db);
  return rows[0]?.claimed ?? [];
}

/**
 * Renews leases in one statement, without claiming any that the holder does not have.
 *
 * @param prefixes of the names to return
 * @returns the number of renewed leases, and the names of all leases held by then
 */
export async function renewLeases(
  db: Db,
  { names, holderId, leaseMs }: LeaseClaim,
  prefixes: readonly string[],
): Promise<{ readonly renewed: number; readonly held: ReadonlySet<string> }> {
  // Rows are locked in the order of `writeLeases`.
  const { rows } = await sql<{ renewed: number; held: string[] }>`
    with mine as materialized (
      select name from lease
      where name = any(${names}::text[]) and holder_id = ${holderId}::uuid
      order by name for update
    ), renewed as (
      update lease
      set held_until = clock_timestamp() + make_interval(secs => ${leaseMs / 1_000}::float8)
      from mine where lease.name = mine.name
      returning 1
    )
    select set_config('synchronous_commit', 'off', true),
      (select count(*)::int from renewed) as renewed,
      array(
        select name from lease
        where name ^@ any(${prefixes}::text[]) and held_until > clock_timestamp()
      ) as held`.execute(db);
  return { renewed: rows[0]?.renewed ?? 0, held: new Set(rows[0]?.held) };
}

/** Releases leases of a holder, so that another process can claim them at once. */
export async function releaseLeases(
  tx: Tx,
  { names, holderId }: Pick<LeaseClaim, 'names' | 'holderId'>,
): Promise<void> {
  await sql`
    delete from lease where name = any(${names}::text[]) and holder_id = ${holderId}::uuid
  `.execute(tx);
}

export async function readHeldLeases(db: Db, names: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`
    select name from lease where name = any(${names}::text[]) and held_until > now()`.execute(db);
  return new Set(rows.map(({ name }) => name));
}

/** The holders of currently held leases whose name begins with a prefix, by name. */
export async function readLeases(db: Db, prefix: string): Promise<Map<string, string>> {
  const { rows } = await sql<{ name: string; holder_id: string }>`
    select name, holder_id from lease
    where starts_with(name, ${prefix}) and held_until > clock_timestamp()`.execute(db);
  return new Map(rows.map((row) => [row.name, row.holder_id]));
}

/**
 * Deletes leases with a name prefix that ended a minute ago or more, because nobody takes them
 * over.
 */
export async function deleteEndedLeases(tx: Tx, prefix: string): Promise<void> {
  await sql`
    delete from lease
    where starts_with(name, ${prefix}) and held_until < now() - interval '1 minute'`.execute(tx);
}

/** Deletes all leases with a name prefix, whoever holds them. */
export async function deleteLeases(tx: Tx, prefix: string): Promise<void> {
  await sql`delete from lease where starts_with(name, ${prefix})`.execute(tx);
}
