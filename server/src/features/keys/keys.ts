/** API keys: making, listing and revoking them. */
import type { Db, Tx } from '../../platform/database/database.ts';
import type { KeyType } from './tables.ts';
import { ApiError } from '../../platform/http/errors.ts';
import type { Principal } from '../../platform/http/principal.ts';
import { covers } from '../../platform/http/scopes.ts';
import { newTypeId, parseTypeId, type OrganizationId } from '../../platform/ids.ts';
import { formatTimestamp } from '../../platform/time.ts';
import { generateKey, hashKey, keyPrefix, keyType } from './key-format.ts';
import {
  countOtherSecretKeys,
  expireAfter,
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
export { keyNames, type OrganizationOrigins } from './queries.ts';
export type { KeyType } from './tables.ts';

/** The hint that this process has changed an organization, such as its allowed origins. */
export const organizationChanged = 'organization-changed';

export type KeyRequest = {
  type: KeyType;
  name: string;
  expiresAt: Date | null;
  /** Default: no limit beyond the type. */
  scopes?: readonly string[] | null;
  /** Requests in any 60 seconds. Default: no limit. */
  rateLimit?: number | null;
};

const maxKeysListed = 1_000;

/** All keys of an organization, newest first, without paging: for the command line. */
export function allKeys(db: Db, organizationId: OrganizationId): Promise<KeyRow[]> {
  return listKeys(db, organizationId, { limit: maxKeysListed, after: null });
}

/** Presents a key without its text. */
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

/** Creates a key and returns its text, which can't be read again: only a hash is stored. */
export async function createKey(tx: Tx, organizationId: OrganizationId, request: KeyRequest) {
  return storeKey(tx, organizationId, generateKey(request.type), request);
}

/**
 * Registers a given key, such as one from the configuration. Does nothing if the organization has
 * it already.
 *
 * @throws ApiError VALIDATION_ERROR when the text is not a key of that type, or another
 *   organization's
 */
export async function ensureKey(
  tx: Tx,
  organizationId: OrganizationId,
  key: string,
  request: KeyRequest,
): Promise<void> {
  if (keyType(key) !== request.type) {
    throw new ApiError('VALIDATION_ERROR', {
      message: `The given ${request.type} key is not well-formed. \`reelfeed keys generate\` prints one.`,
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
  { type, name, expiresAt, scopes = null, rateLimit = null }: KeyRequest,
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
  });
  return { ...presentKey(row), key };
}

/**
 * Creates a key with the same rights as another one, which keeps working for `graceSeconds`.
 *
 * @throws ApiError NOT_FOUND for a key that does not work any more, FORBIDDEN
 */
export async function rotate(tx: Tx, caller: Principal, id: string, graceSeconds: number) {
  const { organizationId } = caller;
  const keyId = parseTypeId('key', id);
  const old = keyId && (await lockWorkingKey(tx, organizationId, keyId));
  if (keyId === null || old === null) throw new ApiError('NOT_FOUND');
  requireWithin(caller, old.scopes);
  const { type, name, expires_at: expiresAt, scopes, rate_limit: rateLimit } = old;
  const made = await createKey(tx, organizationId, { type, name, expiresAt, scopes, rateLimit });
  await expireAfter(tx, organizationId, keyId, graceSeconds);
  return { ...made, replaces: old.api_key_id };
}

/**
 * A key with scopes makes and changes only keys that may do no more than it.
 *
 * @throws ApiError FORBIDDEN
 */
export function requireWithin({ scopes: held }: Principal, wanted: readonly string[] | null): void {
  if (held === null) return;
  if (wanted !== null && wanted.every((scope) => covers(held, scope))) return;
  throw new ApiError('FORBIDDEN', {
    message: 'A key with scopes makes and changes only keys that may do no more than it.',
  });
}

/**
 * Revokes a key permanently. The last working secret key can't be revoked, since nobody could
 * create another.
 *
 * @throws ApiError NOT_FOUND, CONFLICT
 */
export async function revoke(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  caller: Principal | null = null,
) {
  const keyId = parseTypeId('key', id);
  if (keyId === null) throw new ApiError('NOT_FOUND');
  await lockSecretKeys(tx, organizationId);
  const row = await revokeKey(tx, organizationId, keyId);
  if (row === null) throw new ApiError('NOT_FOUND');
  if (caller !== null) requireWithin(caller, row.scopes);
  const isSecret = row.type === 'secret';
  if (isSecret && (await countOtherSecretKeys(tx, organizationId, keyId)) === 0) {
    throw new ApiError('CONFLICT', {
      message: 'This is the last working secret key. Make another one before you revoke it.',
    });
  }
  return presentKey(row);
}
