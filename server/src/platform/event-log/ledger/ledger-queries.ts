/** The SQL of the deduplication ledger. Its functions are in functions.sql. */
import { sql } from 'kysely';
import type { Db, Tx } from '../../database/database.ts';
import { keyBytes, keyScope, writeEventKey } from './event-key.ts';

/** An event that is sent again within this time counts only once. */
export const leastKeyAgeHours = 72;

/**
 * Starts a new generation if the current one is at least `leastAgeHours` old by the database's
 * clock. Keys are therefore kept for at least that long, and at most twice as long.
 */
export async function rotateKeys(tx: Tx, leastAgeHours: number): Promise<boolean> {
  await sql`select set_config('lock_timeout', '2s', true)`.execute(tx);
  const { rows } = await sql<{ rotated: boolean }>`
    select rotate_event_keys(make_interval(secs => ${leastAgeHours}::double precision * 3600))
      as rotated`.execute(tx);
  return rows[0]?.rotated ?? false;
}

/** Removes the key of an event id, because not even a hash of the id may be kept. */
export async function forgetEventKey(
  tx: Tx,
  organizationId: string,
  eventId: string,
): Promise<void> {
  const key = Buffer.alloc(keyBytes);
  writeEventKey(keyScope(organizationId), eventId, key, 0);
  const uuid = sql`${key.toString('hex')}::uuid`;
  await sql`
    with current_key as (delete from event_key_a where event_key = ${uuid})
    delete from event_key_b where event_key = ${uuid}`.execute(tx);
}

export type GenerationSize = {
  readonly generation: 'current' | 'previous';
  readonly bytes: number;
};

/** Reads only the catalogue, so it is cheap for any size of ledger. */
export async function measureLedger(db: Db): Promise<GenerationSize[]> {
  const { rows } = await sql<GenerationSize>`
    select case name when current_generation then 'current' else 'previous' end as generation,
      pg_total_relation_size(('event_key_' || name)::regclass)::bigint as bytes
    from event_key_generation, unnest(array['a', 'b']) as name`.execute(db);
  return rows;
}
