/** The SQL for blocks whose bytes are in a stream. */
import { sql } from 'kysely';
import { int8Array } from '../../database/binary-arrays.ts';
import type { Db, Tx } from '../../database/database.ts';
import type { StreamIdentity } from '../block-stream.ts';

/** An arbitrary number that differs from those of other locks. */
const garbageLock = 1_402_778_192;

/** A statement that prevents the removal of garbage until the session ends. */
export const keepGarbage = `select pg_advisory_lock_shared(${garbageLock})`;

/** @returns false while another session prevents the removal */
export async function lockGarbage(tx: Tx): Promise<boolean> {
  const { rows } = await sql<{ is_ours: boolean }>`
    select pg_try_advisory_xact_lock(${garbageLock}::bigint) as is_ours`.execute(tx);
  return rows[0]?.is_ours === true;
}

/** Records messages that no block refers to once the transaction has committed. */
export async function addGarbage(db: Db, sequences: readonly number[]): Promise<void> {
  if (sequences.length === 0) return;
  await sql`
    insert into event_stream_garbage (stream_sequence)
    select * from unnest(${int8Array(sequences)}::int8[]) on conflict do nothing`.execute(db);
}

export async function selectGarbage(db: Db, limit: number): Promise<number[]> {
  const { rows } = await sql<{ sequence: number }>`
    select stream_sequence as sequence from event_stream_garbage
    order by stream_sequence limit ${limit}`.execute(db);
  return rows.map(({ sequence }) => sequence);
}

export async function deleteGarbage(tx: Tx, sequences: readonly number[]): Promise<void> {
  await sql`
    delete from event_stream_garbage
    where stream_sequence = any(${int8Array(sequences)}::int8[])`.execute(tx);
}

/**
 * Stores the identity of the first stream.
 *
 * @returns the stored identity
 */
export async function rememberStream(db: Db, identity: StreamIdentity): Promise<StreamIdentity> {
  await sql`
    insert into event_stream (stream_name, stream_created)
    values (${identity.name}, ${identity.created}) on conflict do nothing`.execute(db);
  const { rows } = await sql<StreamIdentity>`
    select stream_name as name, stream_created as created from event_stream`.execute(db);
  return rows[0] ?? identity;
}

export type Search = { searchedTo: number; bound: number; boundAgeMs: number };

export async function selectSearch(db: Db): Promise<Search | null> {
  const { rows } = await sql<Search>`
    select searched_to as "searchedTo", bound,
      extract(epoch from clock_timestamp() - bound_at)::float8 * 1000 as "boundAgeMs"
    from event_stream`.execute(db);
  return rows[0] ?? null;
}

export async function saveSearch(
  db: Db,
  { searchedTo, bound }: { searchedTo: number; bound: number },
): Promise<void> {
  await sql`
    update event_stream set searched_to = ${searchedTo}, bound_at = clock_timestamp(),
      bound = ${bound}`.execute(db);
}

/**
 * Messages in (`after`, `last`] that no block refers to. Most of them have already been removed.
 */
export async function selectUnnamed(tx: Tx, after: number, last: number): Promise<number[]> {
  const { rows } = await sql<{ sequence: number }>`
    select sequence from generate_series(${after}::bigint + 1, ${last}::bigint) as sequence
    except
    select stream_sequence from event_block
    where stream_sequence > ${after} and stream_sequence <= ${last}
    order by sequence`.execute(tx);
  return rows.map(({ sequence }) => sequence);
}
