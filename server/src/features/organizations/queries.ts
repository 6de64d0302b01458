import { sql, type RawBuilder } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';

export type OrganizationRow = {
  organization_id: string;
  name: string;
  auto_publish: boolean;
  early_playback: boolean;
  default_protected: boolean;
  allowed_origins: string[];
  time_zone: string;
  require_signed_viewers: boolean;
  created_at: Date;
};

const columns = [
  'organization_id',
  'name',
  'auto_publish',
  'early_playback',
  'default_protected',
  'allowed_origins',
  'time_zone',
  'require_signed_viewers',
  'created_at',
] as const;

export async function insertOrganization(
  tx: Tx,
  organizationId: OrganizationId,
  name: string,
): Promise<OrganizationRow> {
  return tx
    .insertInto('organization')
    .values({ organization_id: organizationId, name })
    .returning(columns)
    .executeTakeFirstOrThrow();
}

export async function findOrganization(
  db: Db,
  organizationId: OrganizationId,
): Promise<OrganizationRow | null> {
  const row = await db
    .selectFrom('organization')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  return row ?? null;
}

/** The organizations of this installation, oldest first. */
export async function listOrganizations(db: Db, limit: number): Promise<OrganizationRow[]> {
  return db
    .selectFrom('organization')
    .select(columns)
    .orderBy('created_at')
    .orderBy('organization_id')
    .limit(limit)
    .execute();
}

/** Makes other processes wait while one checks whether an organization exists. */
export async function lockOrganizations(tx: Tx): Promise<void> {
  await tx
    .selectNoFrom((eb) => eb.fn('pg_advisory_xact_lock', [eb.lit(74_001)]).as('locked'))
    .execute();
}

export type OrganizationChange = {
  name?: string;
  auto_publish?: boolean;
  early_playback?: boolean;
  default_protected?: boolean;
  allowed_origins?: string[];
  time_zone?: string;
  require_signed_viewers?: boolean;
};

export async function updateOrganization(
  tx: Tx,
  organizationId: OrganizationId,
  change: OrganizationChange,
): Promise<OrganizationRow> {
  return tx
    .updateTable('organization')
    .set(change)
    .where('organization_id', '=', organizationId)
    .returning(columns)
    .executeTakeFirstOrThrow();
}

/** A default setting of an organization, as an expression for other features' statements. */
export function organizationSetting(
  column: 'auto_publish' | 'default_protected' | 'early_playback',
  organizationId: RawBuilder<unknown>,
): RawBuilder<boolean> {
  return sql<boolean>`(select ${sql.ref(column)} from organization
    where organization.organization_id = ${organizationId})`;
}

/** The secrets for hashing viewer ids; see viewer-secrets.ts. */
export async function selectViewerSecrets(
  db: Db,
  organizationIds: readonly string[],
): Promise<{ organizationId: string; secret: Buffer }[]> {
  return db
    .selectFrom('organization')
    .select(['organization_id as organizationId', 'viewer_secret as secret'])
    .where('organization_id', 'in', organizationIds)
    .execute();
}

/** The time zone of an organization, as an expression for other features' statements. */
export function organizationTimeZone(organizationId: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`(select time_zone from organization
    where organization.organization_id = ${organizationId})`;
}

/** The time zones by which their days are divided; see organization-clocks.ts. */
export async function selectTimeZones(
  db: Db,
  organizationIds: readonly string[],
): Promise<{ organizationId: string; timeZone: string }[]> {
  return db
    .selectFrom('organization')
    .select(['organization_id as organizationId', 'time_zone as timeZone'])
    .where('organization_id', 'in', organizationIds)
    .execute();
}

/**
 * The organizations as a relation that other features may join. They may rely only on these
 * columns.
 */
export const organizationRows = sql<{
  organization_id: string;
  name: string;
  allowed_origins: string[];
  require_signed_viewers: boolean;
}>`
  (select organization_id, name, allowed_origins, require_signed_viewers from organization)`;
