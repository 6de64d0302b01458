/** SQL for settings, flags and the configuration version. */
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { SettingKind } from './tables.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';

export type SettingRow = { key: string; value: unknown; updated_at: Date };
export type BaseValue = SettingRow & { kind: SettingKind };

/**
 * Locks an organization's configuration until the transaction ends, and marks it as changed. Call
 * it first, so that concurrent changes are serialized.
 */
export async function lockConfiguration(tx: Tx, organizationId: string): Promise<void> {
  await sql`
    insert into configuration_version as known (organization_id, version)
    values (${organizationId}, 1)
    on conflict (organization_id) do update set version = known.version + 1`.execute(tx);
}

export async function listConfigurationVersions(db: Db): Promise<Map<OrganizationId, number>> {
  const rows = await db
    .selectFrom('configuration_version')
    .select(['organization_id', 'version'])
    .execute();
  return new Map(rows.map((row) => [row.organization_id as OrganizationId, row.version]));
}

export async function readBaseValues(db: Db, organizationId: string): Promise<BaseValue[]> {
  return db
    .selectFrom('setting')
    .select(['kind', 'key', 'value', 'updated_at'])
    .where('organization_id', '=', organizationId)
    .execute();
}

const columns = ['key', 'value', 'updated_at'] as const;

export async function findValue(
  db: Db,
  organizationId: OrganizationId,
  kind: SettingKind,
  key: string,
): Promise<SettingRow | null> {
  const row = await db
    .selectFrom('setting')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('kind', '=', kind)
    .where('key', '=', key)
    .executeTakeFirst();
  return row ?? null;
}

export async function countValues(
  db: Db,
  organizationId: OrganizationId,
  kind: SettingKind,
): Promise<number> {
  const { count } = await db
    .selectFrom('setting')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .where('kind', '=', kind)
    .executeTakeFirstOrThrow();
  return count;
}

export async function listValues(
  db: Db,
  organizationId: OrganizationId,
  kind: SettingKind,
  page: { limit: number; after: string | null },
): Promise<SettingRow[]> {
  return db
    .selectFrom('setting')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('kind', '=', kind)
    .where('key', '>', page.after ?? '')
    .orderBy('key')
    .limit(page.limit)
    .execute();
}

export async function upsertValue(
  tx: Tx,
  organizationId: string,
  kind: SettingKind,
  key: string,
  value: unknown,
): Promise<SettingRow> {
  return tx
    .insertInto('setting')
    .values({ organization_id: organizationId, kind, key, value: JSON.stringify(value) })
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'kind', 'key'])
        .doUpdateSet({ value: JSON.stringify(value), updated_at: sql`clock_timestamp()` }),
    )
    .returning(columns)
    .executeTakeFirstOrThrow();
}

export async function deleteValue(
  tx: Tx,
  organizationId: OrganizationId,
  kind: SettingKind,
  key: string,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('setting')
    .where('organization_id', '=', organizationId)
    .where('kind', '=', kind)
    .where('key', '=', key)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
