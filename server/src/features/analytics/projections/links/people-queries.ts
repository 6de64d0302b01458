/** SQL for the list of organizations with people; see people-note.ts. */
import { sql } from 'kysely';
import { textArray } from '../../../../platform/database/binary-arrays.ts';
import type { Db, Tx } from '../../../../platform/database/database.ts';
import { viewerKeys } from '../../statistics/viewer-keys.ts';
import type { NewDevice } from './people-note.ts';

/** An arbitrary number that differs from those of other locks. */
const peopleLock = 1_402_778_192;

/** Whether any device of an organization is the same viewer as a user. */
export async function hasPeople(db: Db, organizationId: string): Promise<boolean> {
  return (await selectOrganizationsWithPeople(db, [organizationId])).length > 0;
}

export async function selectOrganizationsWithPeople(
  db: Db,
  organizationIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select organization_id as id from organization_people
    where organization_id = any(${organizationIds}::text[])`.execute(db);
  return rows.map(({ id }) => id);
}

/** Takes the lock for recording people until the transaction ends. */
export async function lockPeople(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${peopleLock}::bigint)`.execute(tx);
}

/** Records the organizations of devices that the other table contains as well. */
export async function insertPeople(
  tx: Tx,
  devices: readonly NewDevice[],
  otherTable: 'viewer_link' | 'viewer_activity',
): Promise<void> {
  const column = otherTable === 'viewer_link' ? 'device_key' : 'viewer_key';
  await sql`
    insert into organization_people
    select distinct added.organization_id
    from unnest(${viewerKeys(devices.map(({ key }) => key))}::bytea[],
      ${textArray(devices.map(({ organizationId }) => organizationId))}::text[])
      as added (device, organization_id)
    join ${sql.table(otherTable)} found on found.${sql.ref(column)} = added.device
    on conflict do nothing`.execute(tx);
}
