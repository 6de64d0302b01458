import { sql } from 'kysely';
import type { Tx } from '../../../../platform/database/database.ts';
import { byteaArray, sizedBytesArray } from '../../../../platform/database/binary-arrays.ts';

export type StateTableName =
  | 'view_state_a'
  | 'view_state_b'
  | 'view_state_c'
  | 'session_state_a'
  | 'session_state_b'
  | 'session_state_c';

export const stateTables = [
  'view_state_a',
  'view_state_b',
  'view_state_c',
  'session_state_a',
  'session_state_b',
  'session_state_c',
] as const satisfies readonly StateTableName[];

const keyBytes = 16;

function keyArray(keys: readonly string[]): Buffer {
  return byteaArray(keys.length, keyBytes, (index, bytes, at) => {
    bytes.write(keys[index] ?? '', at, keyBytes, 'latin1');
  });
}

/** The states of these keys. Each key is 16 bytes as a string. */
export async function selectStates(
  tx: Tx,
  table: StateTableName,
  keys: readonly string[],
): Promise<{ key: Buffer; state: Buffer }[]> {
  const { rows } = await sql<{ key: Buffer; state: Buffer }>`
    select found.key, found.state
    from unnest(${keyArray(keys)}::bytea[]) as wanted (key)
    join ${sql.table(table)} found on found.key = wanted.key
  `.execute(tx);
  return rows;
}

/**
 * Stores states. Of two with the same key, only one is stored: ids can be crafted so that their
 * hashes collide, which may only spoil the numbers of that client and must not block everyone
 * else's.
 */
export async function upsertStates(
  tx: Tx,
  table: StateTableName,
  states: {
    keys: readonly string[];
    sizesBytes: readonly number[];
    write: (index: number, bytes: Buffer, at: number) => void;
  },
): Promise<void> {
  const { keys, sizesBytes, write } = states;
  if (keys.length === 0) return;
  await sql`
    insert into ${sql.table(table)} (key, state)
    select distinct on (key) key, state from unnest(${keyArray(keys)}::bytea[],
      ${sizedBytesArray(sizesBytes, write)}::bytea[]) as given (key, state)
    order by key
    on conflict (key) do update set state = excluded.state
  `.execute(tx);
}

/** Removes all states of one viewer, whose hash is the first half of the keys. */
export async function deleteStatesOf(
  tx: Tx,
  table: StateTableName,
  viewerKey: Buffer,
): Promise<number> {
  const first = Buffer.concat([viewerKey, Buffer.alloc(8, 0)]);
  const last = Buffer.concat([viewerKey, Buffer.alloc(8, 255)]);
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where key between ${first} and ${last}`.execute(tx);
  return Number(numAffectedRows);
}

export async function truncateStates(tx: Tx, tables: readonly StateTableName[]): Promise<void> {
  await sql`truncate ${sql.join(tables.map((table) => sql.table(table)))}`.execute(tx);
}
