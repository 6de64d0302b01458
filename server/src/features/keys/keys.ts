/** API keys: creating, listing and revoking them. */
import type { Db, Tx } from '../../platform/database/database.ts';
import type { KeyType } from './tables.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { newTypeId, parseTypeId, type OrganizationId } from '../../platform/values/ids.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import { generateKey, hashKey, keyPrefix, keyType } from './key-format.ts';
import {
  countOtherSecretKeys,
  expireKeyAfter,
  findKey,
  findOrganizationOf,
  insertKey,
  lockSecretKeys,
  lockWorkingKey,
  listKeys,
  revokeKey,
  type KeyRow,
} from './queries.ts';

export { createAuthenticator, type Authenticator } from './authenticate.ts';
export { generateKey, keyType } from './key-format.ts';
export { callerNames, type OrganizationOrigins } from './queries.ts';
export type { KeyType } from './tables.ts';
export { isVouchedFor, maySpeakFor } from './viewer-header.ts';
export type { SignatureCheck, SignatureReader, ViewerSignatures } from './viewer-keys.ts';

/** Hint that this process has changed an organization, such as its allowed origins. */
export const organizationChanged = 'organization-changed';

type KeyRequest = {
  type: KeyType;
  name: string;
  expiresAt: Date | null;
  /** Default: no limit beyond the type. */
  scopes?: readonly string[] | null;
  /** Requests in any 60 seconds. Default: no limit. */
  rateLimit?: number | null;
  /** The first key in a chain of rotations. Default: this key starts a new one. */
  family?: string | null;
};

const maxKeysListed = 1_000;

/** All keys of an organization, newest first, without paging; for the command line. */
export function allKeys(db: Db, organizationId: OrganizationId): Promise<KeyRow[]> {
  return listKeys(db, organizationId, { limit: maxKeysListed, after: null });
}

/** A key as the API shows it, without its secret. */
export function presentKey(row: KeyRow) {
  return {
    id: row.api_key_id,
    type: row.type,
    name: row.name,
    prefix: row.prefix,
    createdAt: formatTimestamp(row.created_at),
    lastUsedAt: formatTimestamp(row.last_used_at),
    expiresAt: formatTimestamp(row.expires_at),
    revokedAt: formatTimestamp(row.revoked_at),
    scopes: row.scopes,
    rateLimit: row.rate_limit,
  };
}

/** The fields of a key that the audit log compares; null for an unknown key. */
export async function auditedKey(
  db: Db,
  organizationId: OrganizationId,
  id: string,
): Promise<object | null> {
  const keyId = parseTypeId('key', id);
  const row = keyId && (await findKey(db, organizationId, keyId));
  if (row === null) return null;
  const { name, expiresAt, revokedAt, scopes, rateLimit } = presentKey(row);
  return { name, expiresAt, revokedAt, scopes, rateLimit };
}

/** Creates a key and returns its text, which can't be retrieved again: only a hash is stored. */
export async function createKey(tx: Tx, organizationId: OrganizationId, request: KeyRequest) {
  return storeKey(tx, organizationId, generateKey(request.type), request);
}

/**
 * Registers a given key, such as one from the configuration. Does nothing if the organization
 * already has it.
 * @throws {ApiError} VALIDATION_ERROR if the text is not a key of that type or belongs to another
 *   organization
 */
export async function ensureKey(
  tx: Tx,
  organizationId: OrganizationId,
  key: string,
  request: KeyRequest,
): Promise<void> {
  if (keyType(key) !== request.type) {
    throw new ApiError('VALIDATION_ERROR', {
      message: `The given ${request.type} key is not well-formed. Generate one with \`reelfeed keys generate\`.`,
    });
  }
  const owner = await findOrganizationOf(tx, hashKey(key));
  if (owner === null) await storeKey(tx, organizationId, key, request);
  else if (owner !== organizationId) {
    throw new ApiError('VALIDATION_ERROR', {
      message: `The given ${request.type} key belongs to another organization.`,
    });
  }
}

async function storeKey(
  tx: Tx,
  organizationId: OrganizationId,
  key: string,
  { type, name, expiresAt, scopes = null, rateLimit = null, family = null }: KeyRequest,
) {
  const row = await insertKey(tx, {
    organizationId,
    keyId: newTypeId('key'),
    type,
    name,
    prefix: keyPrefix(key),
    hash: hashKey(key),
    expiresAt,
    scopes,
    rateLimit,
    family,
  });
  return { ...presentKey(row), key };
}

/**
 * Creates a key with the same rights as another one, which keeps working for `graceSeconds`.
 * @throws {ApiError} NOT_FOUND for an inactive key
 */
export async function rotate(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  graceSeconds: number,
) {
  const keyId = parseTypeId('key', id);
  const old = keyId && (await lockWorkingKey(tx, organizationId, keyId));
  if (keyId === null || old === null) throw new ApiError('NOT_FOUND');
  const { type, name, expires_at: expiresAt, scopes, rate_limit: rateLimit } = old;
  const family = old.family ?? old.api_key_id;
  const request = { type, name, expiresAt, scopes, rateLimit, family };
  const made = await createKey(tx, organizationId, request);
  await expireKeyAfter(tx, organizationId, keyId, graceSeconds);
  return { ...made, replaces: old.api_key_id };
}

/**
 * Revokes a key permanently. The last active secret key without scopes can't be revoked, because
 * nobody could create another unrestricted one; nor can the last secret key at all.
 * @throws {ApiError} NOT_FOUND, CONFLICT
 */
export async function revoke(tx: Tx, organizationId: OrganizationId, id: string) {
  const keyId = parseTypeId('key', id);
  if (keyId === null) throw new ApiError('NOT_FOUND');
  await lockSecretKeys(tx, organizationId);
  const row = await revokeKey(tx, organizationId, keyId);
  if (row === null) throw new ApiError('NOT_FOUND');
  const unscoped = row.scopes === null;
  const isNeeded = row.type === 'secret';
  if (isNeeded && (await countOtherSecretKeys(tx, organizationId, keyId, { unscoped })) === 0) {
    const kind = unscoped ? 'secret key without scopes' : 'secret key';
    throw new ApiError('CONFLICT', {
      message: `This is the last active ${kind}. Create another one before you revoke it.`,
    });
  }
  return presentKey(row);
}
