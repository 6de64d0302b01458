import { sql, type RawBuilder } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import { isBehind, type KeysetPage } from '../../platform/database/keyset.ts';
import type { KeyRights } from './grants.ts';
import type { KeyType } from './tables.ts';
import type { ApiKeyId, OrganizationId } from '../../platform/values/ids.ts';

const keyColumns = [
  'api_key_id',
  'type',
  'name',
  'prefix',
  'created_at',
  'last_used_at',
  'expires_at',
  'revoked_at',
  'scopes',
  'rate_limit',
  'family',
] as const;

export type KeyRow = {
  api_key_id: string;
  type: KeyType;
  name: string;
  prefix: string;
  created_at: Date;
  last_used_at: Date | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  scopes: string[] | null;
  rate_limit: number | null;
  /** The first key in the chain of rotations, or null if this is it. */
  family: string | null;
};

export type NewKey = {
  organizationId: OrganizationId;
  keyId: ApiKeyId;
  type: KeyType;
  name: string;
  prefix: string;
  hash: Buffer;
  expiresAt: Date | null;
  scopes: readonly string[] | null;
  rateLimit: number | null;
  family: string | null;
};

export async function insertKey(tx: Tx, key: NewKey): Promise<KeyRow> {
  return tx
    .insertInto('api_key')
    .values({
      organization_id: key.organizationId,
      api_key_id: key.keyId,
      type: key.type,
      name: key.name,
      prefix: key.prefix,
      hash: key.hash,
      expires_at: key.expiresAt,
      scopes: key.scopes && [...key.scopes],
      rate_limit: key.rateLimit,
      family: key.family,
    })
    .returning(keyColumns)
    .executeTakeFirstOrThrow();
}

export async function listKeys(
  db: Db,
  organizationId: OrganizationId,
  page: KeysetPage,
): Promise<(KeyRow & { position: string })[]> {
  return db
    .selectFrom('api_key')
    .select(keyColumns)
    .select(sql<string>`created_at::text`.as('position'))
    .where('organization_id', '=', organizationId)
    .where(isBehind('created_at', 'api_key_id', page.after))
    .orderBy('created_at', 'desc')
    .orderBy('api_key_id', 'desc')
    .limit(page.limit)
    .execute();
}

export async function findKey(
  db: Db,
  organizationId: OrganizationId,
  keyId: ApiKeyId,
): Promise<KeyRow | null> {
  const row = await db
    .selectFrom('api_key')
    .select(keyColumns)
    .where('organization_id', '=', organizationId)
    .where('api_key_id', '=', keyId)
    .executeTakeFirst();
  return row ?? null;
}

export async function countKeys(db: Db, organizationId: OrganizationId): Promise<number> {
  const { count } = await db
    .selectFrom('api_key')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return count;
}

/** Whether the key belongs to the organization, revoked or not. */
export async function hasKey(
  db: Db,
  organizationId: OrganizationId,
  keyId: ApiKeyId,
): Promise<boolean> {
  const row = await db
    .selectFrom('api_key')
    .select('api_key_id')
    .where('organization_id', '=', organizationId)
    .where('api_key_id', '=', keyId)
    .executeTakeFirst();
  return row !== undefined;
}

/** The rights of a key, active or not, or null if it is unknown. */
export async function findRights(
  db: Db,
  organizationId: OrganizationId,
  keyId: ApiKeyId,
): Promise<KeyRights | null> {
  const row = await db
    .selectFrom('api_key')
    .select(['scopes', 'rate_limit', 'expires_at'])
    .where('organization_id', '=', organizationId)
    .where('api_key_id', '=', keyId)
    .executeTakeFirst();
  return row === undefined
    ? null
    : { scopes: row.scopes, rateLimit: row.rate_limit, expiresAt: row.expires_at };
}

/** Revokes a key. A revoked key keeps its first revocation time. Returns null if unknown. */
export async function revokeKey(
  tx: Tx,
  organizationId: OrganizationId,
  keyId: ApiKeyId,
): Promise<KeyRow | null> {
  const row = await tx
    .updateTable('api_key')
    .set({ revoked_at: sql<Date>`coalesce(revoked_at, now())` })
    .where('organization_id', '=', organizationId)
    .where('api_key_id', '=', keyId)
    .returning(keyColumns)
    .executeTakeFirst();
  return row ?? null;
}

/** Finds an active key and locks it until the transaction ends. */
export async function lockWorkingKey(
  tx: Tx,
  organizationId: OrganizationId,
  keyId: ApiKeyId,
): Promise<KeyRow | null> {
  const row = await tx
    .selectFrom('api_key')
    .select(keyColumns)
    .where('organization_id', '=', organizationId)
    .where('api_key_id', '=', keyId)
    .where('revoked_at', 'is', null)
    .where(sql<boolean>`(expires_at is null or expires_at > now())`)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

/** Makes a key expire after a time, unless it expires sooner. */
export async function expireKeyAfter(
  tx: Tx,
  organizationId: OrganizationId,
  keyId: ApiKeyId,
  seconds: number,
): Promise<void> {
  await tx
    .updateTable('api_key')
    .set({ expires_at: sql<Date>`least(expires_at, now() + make_interval(secs => ${seconds}))` })
    .where('organization_id', '=', organizationId)
    .where('api_key_id', '=', keyId)
    .execute();
}

/** Serializes requests that check whether a secret key is the last one. */
export async function lockSecretKeys(tx: Tx, organizationId: OrganizationId): Promise<void> {
  await tx
    .selectFrom('api_key')
    .select('api_key_id')
    .where('organization_id', '=', organizationId)
    .where('type', '=', 'secret')
    .orderBy('api_key_id')
    .forUpdate()
    .execute();
}

/**
 * The number of secret keys that remain active if the given one is revoked; with `unscoped`, only
 * those without scopes.
 */
export async function countOtherSecretKeys(
  tx: Tx,
  organizationId: OrganizationId,
  keyId: ApiKeyId,
  { unscoped }: { unscoped: boolean },
): Promise<number> {
  const { count } = await tx
    .selectFrom('api_key')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .where('api_key_id', '!=', keyId)
    .where('type', '=', 'secret')
    .$if(unscoped, (query) => query.where('scopes', 'is', null))
    .where('revoked_at', 'is', null)
    .where(sql<boolean>`(expires_at is null or expires_at > now())`)
    .executeTakeFirstOrThrow();
  return count;
}

export type KeyOwner = {
  organizationId: OrganizationId;
  keyId: ApiKeyId;
  family: string;
  type: KeyType;
  isRevoked: boolean;
  scopes: string[] | null;
  rateLimit: number | null;
  /** Relative to the time of the query; Infinity for a key that never expires. */
  expiresInMs: number;
  allowedOrigins: string[];
};

/** Organizations with the origins from which their keys may be used. */
export type OrganizationOrigins = RawBuilder<{
  organization_id: string;
  allowed_origins: string[];
  require_signed_viewers: boolean;
}>;

export async function findKeyOwner(
  db: Db,
  organizations: OrganizationOrigins,
  hash: Buffer,
): Promise<KeyOwner | null> {
  const row = await db
    .selectFrom('api_key')
    .innerJoin(
      organizations.as('organization'),
      'organization.organization_id',
      'api_key.organization_id',
    )
    .select([
      'api_key.organization_id',
      'api_key_id',
      'type',
      'allowed_origins',
      'scopes',
      'rate_limit',
    ])
    .select(sql<string>`coalesce(family, api_key_id)`.as('key_family'))
    .select(sql<boolean>`revoked_at is not null`.as('is_revoked'))
    .select(
      sql<
        number | null
      >`extract(epoch from api_key.expires_at - clock_timestamp())::float8 * 1000`.as(
        'expires_in_ms',
      ),
    )
    .where('hash', '=', hash)
    .executeTakeFirst();
  if (row === undefined) return null;
  return {
    organizationId: row.organization_id as OrganizationId,
    keyId: row.api_key_id as ApiKeyId,
    family: row.key_family,
    type: row.type,
    isRevoked: row.is_revoked,
    scopes: row.scopes,
    rateLimit: row.rate_limit,
    expiresInMs: row.expires_in_ms ?? Infinity,
    allowedOrigins: row.allowed_origins,
  };
}

/** The organization of a key in any state, or null for an unknown key. */
export async function findOrganizationOf(db: Db, hash: Buffer): Promise<string | null> {
  const row = await db
    .selectFrom('api_key')
    .select('organization_id')
    .where('hash', '=', hash)
    .executeTakeFirst();
  return row?.organization_id ?? null;
}

/** Marks all given keys as used now, in one statement. */
export async function touchKeys(tx: Tx, keyIds: readonly ApiKeyId[]): Promise<void> {
  await tx
    .updateTable('api_key')
    .set({ last_used_at: sql<Date>`now()` })
    .where('api_key_id', 'in', keyIds)
    .execute();
}

/**
 * The names of keys and people, as a relation that other features may join. The view is in
 * `functions.sql` of the feature `people`.
 */
export const callerNames = sql.raw(
  '(select organization_id, caller_id as api_key_id, name from caller_name)',
);
