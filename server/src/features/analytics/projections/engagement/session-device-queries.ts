import { sql } from 'kysely';
import type { Tx } from '../../../../platform/database/database.ts';
import type { Hash } from '../../statistics/viewer-key.ts';
import { viewerKeys } from '../../statistics/viewer-keys.ts';
import type { StateTableName } from './state-queries.ts';

export type SessionDevice = { readonly user: Hash; readonly device: Hash };

/** Each pair may be given only once. */
export async function upsertSessionDevices(
  tx: Tx,
  pairs: readonly SessionDevice[],
  generation: number,
): Promise<void> {
  if (pairs.length === 0) return;
  await sql`
    insert into session_device as known (user_key, device_key, generation)
    select user_key, device_key, ${generation}::int8
    from unnest(${viewerKeys(pairs.map(({ user }) => user))}::bytea[],
      ${viewerKeys(pairs.map(({ device }) => device))}::bytea[]) as given (user_key, device_key)
    on conflict (user_key, device_key) do update set generation = excluded.generation
      where known.generation < excluded.generation`.execute(tx);
}

export async function selectSessionDevices(tx: Tx, users: readonly Hash[]): Promise<Hash[]> {
  const { rows } = await sql<{ device_key: Buffer }>`
    select distinct device_key from session_device
    where user_key = any(${viewerKeys(users)}::bytea[])`.execute(tx);
  return rows.map((row) => row.device_key.toString('latin1'));
}

export async function deleteOldSessionDevices(tx: Tx, beforeGeneration: number): Promise<void> {
  await sql`
    delete from session_device where generation < ${beforeGeneration}::int8`.execute(tx);
}

/** Removes the pairs that contain a viewer, as a user or as a device. */
export async function deleteSessionDevicesOf(tx: Tx, viewerKey: Buffer): Promise<void> {
  await sql`
    delete from session_device
    where user_key = ${viewerKey} or device_key = ${viewerKey}`.execute(tx);
}

export async function selectSessionsOf(
  tx: Tx,
  table: StateTableName,
  device: Hash,
): Promise<{ key: Buffer; state: Buffer }[]> {
  const owner = Buffer.from(device, 'latin1');
  const { rows } = await sql<{ key: Buffer; state: Buffer }>`
    select key, state from ${sql.table(table)}
    where key between ${Buffer.concat([owner, Buffer.alloc(8, 0)])}
      and ${Buffer.concat([owner, Buffer.alloc(8, 255)])}`.execute(tx);
  return rows;
}

export async function deleteSessionDevice(
  tx: Tx,
  table: StateTableName,
  key: Buffer,
): Promise<void> {
  await sql`delete from ${sql.table(table)} where key = ${key}`.execute(tx);
}
