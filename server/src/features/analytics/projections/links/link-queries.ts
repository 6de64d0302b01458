import { sql } from 'kysely';
import { int8Array, textArray } from '../../../../platform/database/binary-arrays.ts';
import type { Db, Tx } from '../../../../platform/database/database.ts';
import type { Viewer } from '../../../../platform/projections/projection.ts';
import { memberOf, type Hash } from '../../statistics/viewer-key.ts';
import { erasedKeys, viewerKeys } from '../../statistics/viewer-keys.ts';

export type ViewerLink = {
  readonly organizationId: string;
  readonly device: Hash;
  readonly user: Hash;
  /** When an event first named both. */
  readonly atMs: number;
};

const keepEarlier = sql`on conflict (device_key) do update
  set user_key = excluded.user_key, at_ms = excluded.at_ms
  where (excluded.at_ms, excluded.user_key) < (known.at_ms, known.user_key)`;

/** Keeps the earlier of two links of a device. Each device may be given only once. */
export async function upsertLinks(tx: Tx, links: readonly ViewerLink[]): Promise<void> {
  if (links.length === 0) return;
  const sorted = links.toSorted((a, b) => (a.device < b.device ? -1 : 1));
  await sql`
    insert into viewer_link as known (device_key, user_key, organization_id, at_ms)
    select * from unnest(${viewerKeys(sorted.map(({ device }) => device))}::bytea[],
      ${viewerKeys(sorted.map(({ user }) => user))}::bytea[],
      ${textArray(sorted.map(({ organizationId }) => organizationId))}::text[],
      ${int8Array(sorted.map(({ atMs }) => atMs))}::int8[])
    ${keepEarlier}`.execute(tx);
}

/** Removes the links of a user, and of devices with the same id. */
export async function deleteLinks(tx: Tx, viewer: Viewer): Promise<number> {
  const keys = await erasedKeys(tx, viewer);
  const { numAffectedRows = 0n } = await sql`
    delete from viewer_link
    where user_key = any(${keys}::bytea[]) or device_key = any(${keys}::bytea[])`.execute(tx);
  return Number(numAffectedRows);
}

/** Copies links that are earlier than those in the log. */
export async function keepOldLinks(tx: Tx, schema: string): Promise<void> {
  await sql`
    insert into ${sql.id(schema, 'viewer_link')} as known
      (device_key, user_key, organization_id, at_ms)
    select device_key, user_key, organization_id, at_ms from viewer_link
    ${keepEarlier}`.execute(tx);
}

/** Maximum number of a user's devices to look up, most recently linked first. */
const maxDevices = 10;

/** The latest devices of a user, and the links of some other devices. */
export async function readLinks(
  db: Db,
  user: Buffer,
  devices: readonly Buffer[],
): Promise<{ device: Buffer; user: Buffer }[]> {
  const { rows } = await sql<{ device: Buffer; user: Buffer }>`
    (select device_key as device, user_key as user from viewer_link where user_key = ${user}
      order by at_ms desc, device_key limit ${maxDevices})
    union
    select device_key, user_key from viewer_link
    where device_key = any(${devices}::bytea[])`.execute(db);
  return rows;
}

/** Maps devices that did something without a user to their users, both as member numbers. */
export type UsersOfDevices = ReadonlyMap<number, number>;

/** The devices of an organization that are the same viewer as a user, or null if there are none. */
export async function readPeople(db: Db, organizationId: string): Promise<UsersOfDevices | null> {
  const { rows } = await sql<{ device_key: Buffer; user_key: Buffer }>`
    select link.device_key, link.user_key
    from viewer_link link
    join viewer_activity activity on activity.viewer_key = link.device_key
    where link.organization_id = ${organizationId}`.execute(db);
  if (rows.length === 0) return null;
  const memberIn = (key: Buffer) => memberOf(key.toString('latin1'));
  return new Map(rows.map((row) => [memberIn(row.device_key), memberIn(row.user_key)]));
}
